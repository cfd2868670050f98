import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Loading } from '../ui/states.tsx'
import { decodedRate, decodeSound, longestDecoded } from './decode-sound.ts'
import styles from './spectrogram.module.css'
import { columnLevels, spectrogramBins } from './spectrogram-levels.ts'

const columns = 1_000
/** After this many columns, the browser gets a chance to react. */
const columnsAtOnce = 50

const soundOf = (src: string) => ({
  queryKey: ['decoded-sound', src],
  queryFn: ({ signal }: { signal: AbortSignal }) => decodeSound(src, signal),
  staleTime: Number.POSITIVE_INFINITY,
  // The samples of a long call take more than a hundred megabytes.
  gcTime: 0,
  retry: false,
})

/** Draws some columns, in the color of the element's text. */
const drawColumns = (canvas: HTMLCanvasElement, samples: Float32Array, from: number): void => {
  const context = canvas.getContext('2d')
  if (!context) return
  const [red = 0, green = 0, blue = 0] = (getComputedStyle(canvas).color.match(/[\d.]+/g) ?? []).map(Number)
  const image = context.createImageData(columnsAtOnce, spectrogramBins)
  for (let column = 0; column < columnsAtOnce; column++) {
    const levels = columnLevels(samples, from + column, columns)
    levels.forEach((level, bin) => {
      const at = 4 * ((spectrogramBins - 1 - bin) * columnsAtOnce + column)
      image.data.set([red, green, blue, level], at)
    })
  }
  context.putImageData(image, from, 0)
}

const Channel = ({ samples, label }: { samples: Float32Array; label: string }) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let next = 0
    const draw = () => {
      if (!canvas.current || next >= columns) return
      drawColumns(canvas.current, samples, next)
      next += columnsAtOnce
      timer = setTimeout(draw)
    }
    let timer = setTimeout(draw)
    return () => clearTimeout(timer)
  }, [samples])
  return <canvas ref={canvas} width={columns} height={spectrogramBins} role="img" aria-label={label} />
}

type SpectrogramProps = {
  src: string
  /** The length of the timeline above it, in seconds. */
  length: number
}

/** Shows the recording's frequencies, below its waveform and on the same scale. */
export const Spectrogram = ({ src, length }: SpectrogramProps) => {
  const isTooLong = length > longestDecoded
  const { data: sound, isPending, error } = useQuery({ ...soundOf(src), enabled: !isTooLong })
  if (isTooLong) return <p className={styles.none}>Spectrograms are available for recordings of up to 30 minutes.</p>
  if (isPending) return <Loading lines={2} />
  if (error || !sound) return <p className={styles.none}>Your browser can’t decode this recording.</p>
  const channels = Array.from({ length: Math.min(2, sound.numberOfChannels) }, (_, at) => sound.getChannelData(at))
  const nameOf = (channel: number) => (channels.length === 1 ? 'Spectrogram' : `Spectrogram of channel ${channel + 1}`)
  return (
    <figure className={styles.spectrogram}>
      {channels.map((samples, channel) => (
        <div key={nameOf(channel)} style={{ width: `${Math.min(100, (sound.duration / length) * 100)}%` }}>
          <Channel samples={samples} label={nameOf(channel)} />
        </div>
      ))}
      <figcaption>
        0 to {decodedRate / 2_000} kHz{channels.length > 1 && ', channel 1 above channel 2'}
      </figcaption>
    </figure>
  )
}
