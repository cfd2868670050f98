import { expect, it } from 'vitest'
import { lazyCode } from './lazy-code.ts'

it('loads code once', async () => {
  let imports = 0
  const code = lazyCode(async () => {
    imports += 1
    return 'menu'
  })
  expect(code.loaded).toBeUndefined()
  expect(await Promise.all([code.load(), code.load()])).toEqual(['menu', 'menu'])
  expect(await code.load()).toBe('menu')
  expect(code.loaded).toBe('menu')
  expect(imports).toBe(1)
})

it('tries again after a failure', async () => {
  let imports = 0
  const code = lazyCode(async () => {
    imports += 1
    if (imports === 1) throw new TypeError('Failed to fetch dynamically imported module')
    return 'menu'
  })
  await expect(code.load()).rejects.toThrow('Failed to fetch')
  expect(code.loaded).toBeUndefined()
  expect(await code.load()).toBe('menu')
})
