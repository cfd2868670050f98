export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'earshot-theme'

export const readTheme = (): Theme => {
  const stored = localStorage.getItem(storageKey)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export const applyTheme = (theme: Theme = readTheme()): void => {
  if (theme === 'system') {
    localStorage.removeItem(storageKey)
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem(storageKey, theme)
    document.documentElement.dataset.theme = theme
  }
}
