import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { wav } from '../../../test/make.ts'
import { audioType, recognize } from './audio.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', '').padEnd(128, '0'), 'hex')
const text = (start: string) => Buffer.from(start.padEnd(64, '\0'), 'latin1')

describe('the type of a recording', () => {
  it.each<[string, Buffer, string]>([
    ['WAV', Buffer.from(wav()), 'audio/wav'],
    ['large WAV', text('RF64\xff\xff\xff\xffWAVEds64'), 'audio/wav'],
    ['MP3 with a tag', text('ID3\x04'), 'audio/mpeg'],
    ['MP3 without', hex('fffb9064'), 'audio/mpeg'],
    ['MP3 of half the rate', hex('fff344c4'), 'audio/mpeg'],
    ['Ogg', text('OggS\0\x02'), 'audio/ogg'],
    ['FLAC', text('fLaC\0'), 'audio/flac'],
    ['MP4', text('\0\0\0\x20ftypM4A '), 'audio/mp4'],
    ['WebM', Buffer.concat([hex('1a45dfa3').subarray(0, 24), text('webm')]), 'audio/webm'],
    ['AAC', hex('fff15080'), 'audio/aac'],
    ['AAC of MPEG-2', hex('fff94c80'), 'audio/aac'],
  ])('%s is detected by its first bytes', (_name, head, contentType) => {
    expect(audioType(head)?.contentType).toBe(contentType)
  })

  it.each<[string, Buffer]>([
    ['a page', text('<!doctype html><html>')],
    ['a text of UTF-16', Buffer.from('\ufeffHello, this is no sound at all', 'utf16le')],
    ['JSON', text('{"error":"expired"}')],
    ['a PNG', hex('89504e470d0a1a0a')],
    ['a JPEG', hex('ffd8ffe000104a46')],
    ['AVI', text('RIFF\0\0\0\0AVI ')],
    ['Matroska', Buffer.concat([hex('1a45dfa3').subarray(0, 24), text('matroska')])],
    ['too little', Buffer.from(wav()).subarray(0, 11)],
    ['nothing', Buffer.alloc(0)],
  ])('%s is not audio', (_name, head) => {
    expect(audioType(head)).toBeUndefined()
  })

  it('is detected however the bytes are chunked, and all of them are returned', async () => {
    const file = Buffer.from(wav(500))
    for (const size of [1, 7, 63, 64, 65, 500]) {
      const pieces = async function* () {
        for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size)
      }
      const { type, content, isEmpty } = await recognize(pieces())
      expect({ type: type?.extension, isEmpty }).toEqual({ type: 'wav', isEmpty: false })
      expect(Buffer.concat(await Readable.from(content).toArray())).toEqual(file)
    }
  })
})
