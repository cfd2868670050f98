import { expect, it } from 'vitest'
import { reasonOutOfReach } from './outside.ts'

it.each([
  'http://localhost:4700/v1',
  'https://earshot/v1',
  'https://earshot.internal/v1',
  'https://127.0.0.1:4700',
  'https://10.1.2.3',
  'https://172.16.0.1',
  'https://172.31.255.1',
  'https://192.168.1.5',
  'https://100.64.0.1',
  'https://169.254.169.254',
  'https://[::1]:4700',
  'https://[fd12::1]',
  'https://[fe80::1]',
])('%s can only be reached from within a network', (address) => {
  expect(reasonOutOfReach(address)).toMatch(/only be reached from within your network/)
})

it.each([
  'https://earshot.example.com/v1',
  'https://172.32.0.1',
  'https://100.128.0.1',
  'https://[2606:4700::1]',
  'https://10gbit.example.com',
])('%s can be reached', (address) => {
  expect(reasonOutOfReach(address)).toBeUndefined()
})

it('an address without encryption is of little use', () => {
  expect(reasonOutOfReach('http://earshot.example.com/v1')).toMatch(/https/)
})
