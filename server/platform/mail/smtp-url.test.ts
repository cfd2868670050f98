import { describe, expect, it } from 'vitest'
import { readSmtpUrl } from './smtp-url.ts'

describe('a URL of a mail server', () => {
  const plain = { port: 587, tls: 'starttls', auth: undefined, from: undefined }

  it.each([
    ['smtp://mail.example.com', { ...plain, host: 'mail.example.com' }],
    ['smtp://Mail_1:25/', { ...plain, host: 'mail_1', port: 25 }],
    ['smtp://mail.example.com?tls=off', { ...plain, host: 'mail.example.com', tls: 'off' }],
    ['smtp://localhost:1025', { ...plain, host: 'localhost', port: 1025, tls: 'off' }],
    ['smtp://127.1.2.3', { ...plain, host: '127.1.2.3', tls: 'off' }],
    ['smtp://[::1]', { ...plain, host: '::1', tls: 'off' }],
    ['smtp://[fd00::1]:2525', { ...plain, host: 'fd00::1', port: 2525 }],
    ['smtp://127.0.0.1?tls=required', { ...plain, host: '127.0.0.1' }],
    ['smtp://127.0.0.1.example.com', { ...plain, host: '127.0.0.1.example.com' }],
    [
      'smtps://a%40b:p%3Aw%26%C3%BC@mail.example.com',
      { ...plain, host: 'mail.example.com', port: 465, tls: 'implicit', auth: { user: 'a@b', pass: 'p:w&ü' } },
    ],
    [
      'smtp://mail.example.com?from=a%2Bb@example.com',
      { ...plain, host: 'mail.example.com', from: { name: '', address: 'a+b@example.com' } },
    ],
    [
      'smtp://mail.example.com?tls=off&from=%22The Ear%22 <ear@example.com>',
      { ...plain, host: 'mail.example.com', tls: 'off', from: { name: 'The Ear', address: 'ear@example.com' } },
    ],
  ])('%s is valid', (text, expected) => {
    expect(readSmtpUrl(text)).toEqual(expected)
  })

  it.each([
    'http://mail.example.com',
    'smtp:',
    'smtp:mail.example.com',
    'smtp://',
    'smtp://mail.example.com:99999',
    'smtp://mail.example.com/path',
    'smtp://mail.example.com#here',
    'smtp://user@mail.example.com',
    'smtp://:password@mail.example.com',
    'smtp://user:100%@mail.example.com',
    'smtp://ma%0dil.example.com',
    'smtp://mail.example.com?tls=maybe',
    'smtp://mail.example.com?tls=required&tls=off',
    'smtps://mail.example.com?tls=off',
    'smtp://mail.example.com?form=a@example.com',
    'smtp://mail.example.com?from=nobody',
    'smtp://mail.example.com?from=b%C3%BCro@example.com',
    'smtp://mail.example.com?from=A <a@example.com>, b@example.com',
    'smtp://mail.example.com?from=A%0d%0aBcc: b@example.com <a@example.com>',
  ])('%j is rejected', (text) => {
    expect(readSmtpUrl(text)).toBeUndefined()
  })
})
