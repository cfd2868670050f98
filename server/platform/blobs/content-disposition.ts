/** Encodes a file name for all clients: in plain form for old clients, and encoded (RFC 6266) for all others. */
export const contentDisposition = (disposition: 'attachment' | 'inline', fileName?: string): string => {
  if (!fileName) return disposition
  const name = fileName.toWellFormed()
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${disposition}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
