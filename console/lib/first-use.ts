/** Resolves when somebody first uses the page, by pointer, keyboard or assistive technology, some of which only clicks. */
export const firstUse = new Promise<void>((resolve) => {
  for (const event of ['pointermove', 'pointerdown', 'keydown', 'focusin', 'click'])
    addEventListener(event, () => resolve(), { once: true, capture: true, passive: true })
})
