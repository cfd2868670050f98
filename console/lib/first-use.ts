/** Resolves when somebody first uses the page, by pointer or by keyboard. */
export const firstUse = new Promise<void>((resolve) => {
  for (const event of ['pointermove', 'pointerdown', 'keydown', 'focusin'])
    addEventListener(event, () => resolve(), { once: true, capture: true, passive: true })
})
