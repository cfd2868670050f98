/** Coval writes its ids as UUIDs in this alphabet, without letters that look alike, and its clients check the length. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const base = BigInt(alphabet.length)
/** As many as the highest UUID takes. */
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
