import { describe, expect, test } from 'vitest'
import { isPublicAddress, isWithin, parseNetworks } from './addresses.ts'
import { isPublicHostByForm } from './public-host.ts'

describe('addresses', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::8.8.8.8',
  ])('%s is allowed', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.0',
    '10.255.255.255',
    '100.64.0.1',
    '100.100.100.200',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '169.254.170.2',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::8.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.1.2.3',
    '::ffff:169.254.169.254',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::8.8.8.8',
    '100::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:2::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '2002:808:808::1',
    '3fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1%eth0',
    'fec0::1',
    'ff02::1',
    '',
    'localhost',
    '2130706433',
    '0177.0.0.1',
    '127.1',
    '8.8.8.8.',
  ])('%j is not allowed', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test('an operator’s network is allowed, also in mapped form, and nothing next to it', () => {
    const allowed = parseNetworks(['10.1.0.0/16', 'fd12::/16'])
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1']) {
      expect(isWithin(address, allowed), address).toBe(true)
    }
    for (const address of ['10.2.0.1', 'fd13::1', '127.0.0.1', '::ffff:10.2.0.1', '2002:a01:203::1']) {
      expect(isWithin(address, allowed), address).toBe(false)
    }
  })
})

describe('hosts by their form', () => {
  test.each([
    'example.com',
    'EXAMPLE.com',
    'example.com.',
    'cdn.example.co.uk',
    'xn--bcher-kva.de',
    'bücher.de',
    'localhost.example.com',
    'a.internal.example.com',
    '8.8.8.8',
    '134744072',
    '0x08.8.8.8',
    '[2606:4700:4700::1111]',
    '2606:4700:4700::1111',
    '127.0.0.1.nip.io',
  ])('%s is public', (host) => {
    expect(isPublicHostByForm(host)).toBe(true)
  })

  test.each([
    '',
    '.',
    '..',
    'localhost',
    'LOCALHOST.',
    'app.localhost',
    'intranet',
    'printer.local',
    'printer.local.',
    'metadata.google.internal',
    'router.home.arpa',
    '1.0.0.127.in-addr.arpa',
    'shop.test',
    'shop.invalid',
    'shop.example',
    'hidden.onion',
    'name.alt',
    'nas.lan',
    'server.corp',
    'localhost.localdomain',
    'a..com',
    '.example.com',
    'example.com..',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(130)}com`,
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '017700000001',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '999.1.1.1',
    '10.0.0.1',
    '169.254.169.254',
    '[::1]',
    '::1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[fe80::1%25eth0]',
    'fe80::1%eth0',
    '[fd00:ec2::254]',
    'example.com:80',
    'example.com/x',
    'user@example.com',
    'example.com?',
    'example.com#',
    'example.com\\x',
    'exam ple.com',
    'example.com\n',
    'exam\tple.com',
  ])('%j is not', (host) => {
    expect(isPublicHostByForm(host)).toBe(false)
  })
})
