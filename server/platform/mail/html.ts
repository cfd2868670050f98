// Writes formatted emails. Mail programs ignore style sheets, so styles are inline.

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export const encodeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')

/** Returns a link. The label is plain text. */
export const htmlLink = (url: string, label: string): string =>
  `<a href="${encodeHtml(url)}" style="color:#0b6f6a">${encodeHtml(label)}</a>`

/** Returns an email. The heading is plain text, and the parts that follow are HTML. */
export const htmlMail = (heading: string, parts: string[]): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${encodeHtml(heading)}</title></head>
<body style="font-family:system-ui,sans-serif;font-size:14px;line-height:1.5;max-width:640px">
<h1 style="font-size:20px;margin:0">${encodeHtml(heading)}</h1>
${parts.join('\n')}
</body>
</html>
`
