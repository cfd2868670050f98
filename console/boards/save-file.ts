/** Offers a file that the page created as a download. */
export const saveFile = (name: string, file: Blob): void => {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  // File systems and browsers treat these characters specially.
  link.download = name.replaceAll(/[\\/:*?"<>|]/g, '-')
  link.click()
  URL.revokeObjectURL(url)
}
