/** Coval writes its IDs as UUIDs in this alphabet, without similar letters, and its clients check the length. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const base = BigInt(alphabet.length)
/** The length of the highest UUID. */
const length = 22

export const shortIdOf = (uuid: string): string => {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`)
  let text = ''
  while (text.length < length) {
    text = alphabet.charAt(Number(rest % base)) + text
    rest /= base
  }
  return text
}
