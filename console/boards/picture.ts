// Draws an element of the page as a PNG image: its boxes, lines, text, and charts, in the colors of the theme.

/** Elements with this attribute, such as buttons, are omitted. */
const leftOut = '[data-no-picture]'

/** Enough for screens with two physical pixels per CSS pixel. */
const scale = 2
/** Browsers reject larger canvases. */
const mostPixels = 16_000

type Painter = { context: CanvasRenderingContext2D; left: number; top: number }

const isClear = (color: string): boolean => /^rgba\(.*, 0\)$|\/ 0\)$|^transparent$/.test(color)

const sides = ['Top', 'Right', 'Bottom', 'Left'] as const

const paintBox = ({ context, left, top }: Painter, element: Element, style: CSSStyleDeclaration): void => {
  const box = element.getBoundingClientRect()
  const [x, y] = [box.left - left, box.top - top]
  context.globalAlpha = Number(style.opacity)
  if (!isClear(style.backgroundColor)) {
    context.fillStyle = style.backgroundColor
    context.fillRect(x, y, box.width, box.height)
  }
  for (const side of sides) {
    const width = Number.parseFloat(style[`border${side}Width`])
    if (!(width > 0) || style[`border${side}Style`] === 'none' || isClear(style[`border${side}Color`])) continue
    context.fillStyle = style[`border${side}Color`]
    const isAcross = side === 'Top' || side === 'Bottom'
    context.fillRect(
      side === 'Right' ? x + box.width - width : x,
      side === 'Bottom' ? y + box.height - width : y,
      isAcross ? box.width : width,
      isAcross ? width : box.height,
    )
  }
  context.globalAlpha = 1
}

/** Paints each word at its position in the browser, so that lines break at the same words. */
const paintText = ({ context, left, top }: Painter, text: Text, style: CSSStyleDeclaration, color: string): void => {
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
  context.fillStyle = color
  context.textBaseline = 'alphabetic'
  const range = document.createRange()
  for (const { index, 0: word } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index)
    range.setEnd(text, index + word.length)
    const [box] = range.getClientRects()
    if (!box || box.width === 0) continue
    const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = context.measureText(word)
    const baseline = box.top - top + (box.height - ascent - descent) / 2 + ascent
    context.fillText(word, box.left - left, baseline)
  }
}

/** The properties of drawings that are set by style sheets. An image does not use the page's style sheets. */
const drawn = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'stroke-opacity',
  'opacity',
  'shape-rendering',
]

/** Returns a copy of a drawing without its text, which is painted using the page's fonts. */
const copyOf = (drawing: SVGSVGElement): SVGSVGElement => {
  const copy = drawing.cloneNode(true) as SVGSVGElement
  const copies = [copy, ...copy.querySelectorAll<SVGElement>('*')]
  for (const [at, element] of [drawing, ...drawing.querySelectorAll<SVGElement>('*')].entries()) {
    const style = getComputedStyle(element)
    for (const name of drawn) copies[at]?.setAttribute(name, style.getPropertyValue(name))
  }
  for (const text of copy.querySelectorAll('text, title')) text.remove()
  const { width, height } = drawing.getBoundingClientRect()
  copy.setAttribute('width', String(width))
  copy.setAttribute('height', String(height))
  return copy
}

const imageOf = async (drawing: SVGSVGElement): Promise<HTMLImageElement> => {
  const text = new XMLSerializer().serializeToString(copyOf(drawing))
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  const image = new Image()
  image.src = url
  try {
    await image.decode()
  } finally {
    URL.revokeObjectURL(url)
  }
  return image
}

const isShown = (element: Element, style: CSSStyleDeclaration): boolean =>
  style.display !== 'none' && style.visibility !== 'hidden' && style.clipPath === 'none' && !element.matches(leftOut)

const paintDrawing = async ({ context, left, top }: Painter, drawing: SVGSVGElement): Promise<void> => {
  const box = drawing.getBoundingClientRect()
  context.drawImage(await imageOf(drawing), box.left - left, box.top - top, box.width, box.height)
}

/** Returns the color of a text element in a drawing. All other text in drawings is for screen readers. */
const colorOf = (element: Element, style: CSSStyleDeclaration): string | undefined => {
  if (!(element instanceof SVGElement)) return style.color
  return element instanceof SVGTextElement ? style.fill : undefined
}

const paint = async (painter: Painter, element: Element): Promise<void> => {
  const style = getComputedStyle(element)
  const isDrawing = element instanceof SVGElement
  // Clip paths are part of drawings. Elsewhere, they only hide text that is for screen readers.
  if (!isDrawing && !isShown(element, style)) return
  if (!isDrawing) paintBox(painter, element, style)
  else if (element instanceof SVGSVGElement) await paintDrawing(painter, element)
  const color = colorOf(element, style)
  for (const child of element.childNodes) {
    if (child instanceof Element) await paint(painter, child)
    else if (child instanceof Text && color !== undefined) paintText(painter, child, style, color)
  }
}

/** Returns the color behind an element. */
const groundOf = (element: Element): string => {
  for (let at: Element | null = element; at; at = at.parentElement) {
    const { backgroundColor } = getComputedStyle(at)
    if (!isClear(backgroundColor)) return backgroundColor
  }
  return '#fff'
}

/** Draws an element as a PNG image, as it currently looks. */
export const pictureOf = async (element: HTMLElement): Promise<Blob> => {
  const { left, top, width } = element.getBoundingClientRect()
  const height = element.scrollHeight
  const size = Math.min(scale, mostPixels / height)
  const canvas = document.createElement('canvas')
  canvas.width = Math.ceil(width * size)
  canvas.height = Math.ceil(height * size)
  const context = canvas.getContext('2d')
  if (!context) throw new Error('The browser can’t draw.')
  context.scale(size, size)
  context.fillStyle = groundOf(element)
  context.fillRect(0, 0, width, height)
  await paint({ context, left, top }, element)
  return new Promise((resolve, reject) => {
    canvas.toBlob((file) => (file ? resolve(file) : reject(new Error('The image is too large.'))), 'image/png')
  })
}
