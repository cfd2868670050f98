/**
 * Resolves when someone first uses the page by pointer, keyboard, or assistive technology, which may only send clicks.
 */
export const firstUse = new Promise<void>((resolve) => {
  for (const event of ['pointermove', 'pointerdown', 'keydown', 'focusin', 'click'])
    addEventListener(event, () => resolve(), { once: true, capture: true, passive: true })
})
