// Generates numbers, dates, and times, and spells them as people say them. Uses none of the code that reads them.
import type { Draw } from '../exports/random.ts'

/** A value, how it is said, and everything that the same words can mean. */
export type Spoken = {
  form: string
  type: 'number' | 'date'
  value: number | string
  text: string
  readings: (number | string)[]
}

const small =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const tens = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']

const below100 = (value: number, hyphen = '-'): string =>
  value < 20
    ? (small[value] ?? '')
    : `${tens[Math.floor(value / 10)]}${value % 10 > 0 ? `${hyphen}${small[value % 10]}` : ''}`

const below1000 = (value: number, and: string, hyphen: string): string => {
  const [hundreds, rest] = [Math.floor(value / 100), value % 100]
  if (hundreds === 0) return below100(rest, hyphen)
  return `${small[hundreds]} hundred${rest > 0 ? `${and}${below100(rest, hyphen)}` : ''}`
}

const words = (value: number, and = ' and ', hyphen = '-'): string => {
  const [thousands, rest] = [Math.floor(value / 1_000), value % 1_000]
  if (thousands === 0) return below1000(rest, and, hyphen)
  const tail = rest === 0 ? '' : ` ${rest < 100 ? and.trimStart() : ''}${below1000(rest, and, hyphen)}`
  return `${below1000(thousands, and, hyphen)} thousand${tail}`
}

const grouped = (value: number, separator: string): string => String(value).replace(/\B(?=(\d{3})+$)/g, separator)
const two = (value: number): string => String(value).padStart(2, '0')

type Maker = (draw: Draw) => Omit<Spoken, 'form' | 'type'>

const whole = (draw: Draw): number => draw.one([draw.below(90) + 10, draw.below(900) + 100, draw.below(90_000) + 1_000])
const plain = (value: number, text: string, ...others: number[]) => ({ value, text, readings: [value, ...others] })

const numbers: Record<string, Maker> = {
  digits: (draw) => {
    const value = whole(draw)
    return plain(value, String(value))
  },
  'digits, grouped': (draw) => {
    const value = draw.below(900_000) + 1_000
    const separator = draw.one([',', '.', ' ', "'"])
    // One group looks like three decimals.
    return plain(value, grouped(value, separator), ...(',.'.includes(separator) ? [value / 1_000] : []))
  },
  decimals: (draw) => {
    const [units, cents] = [draw.below(5_000), draw.below(99) + 1]
    const value = Number(`${units}.${two(cents)}`)
    const text = draw.one([
      `${units}.${two(cents)}`,
      `${units},${two(cents)}`,
      `${grouped(units, ',')}.${two(cents)}`,
      `${grouped(units, '.')},${two(cents)}`,
    ])
    return plain(value, text)
  },
  words: (draw) => {
    const value = whole(draw)
    return plain(value, words(value, draw.one([' and ', ' ']), draw.one(['-', ' '])))
  },
  'words with a point': (draw) => {
    const [units, tenths] = [draw.below(200), draw.below(9) + 1]
    return plain(Number(`${units}.${tenths}`), `${words(units)} point ${small[tenths]}`)
  },
  'digit by digit': (draw) => {
    const value = draw.below(9_000_000) + 1_000
    return plain(value, [...String(value)].map((digit) => small[Number(digit)]).join(' '))
  },
  money: (draw) => {
    const [units, cents] = [draw.below(99) + 1, draw.below(90) + 10]
    const value = Number(`${units}.${two(cents)}`)
    return plain(
      value,
      draw.one([
        `$${value.toFixed(2)}`,
        `${value.toFixed(2)} euros`,
        `${units} dollars and ${cents} cents`,
        `${words(units)} dollars and ${below100(cents)} cents`,
        `${words(units)} pounds ${below100(cents)}`,
      ]),
    )
  },
  'money without units': (draw) => {
    const [units, cents] = [draw.below(98) + 2, draw.below(90) + 10]
    const value = Number(`${units}.${two(cents)}`)
    return plain(value, `${below100(units)} ${below100(cents)}`, units * 100 + cents)
  },
}

const months = 'January February March April May June July August September October November December'.split(' ')
const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const irregular: Record<number, string> = {
  1: 'first',
  2: 'second',
  3: 'third',
  5: 'fifth',
  8: 'eighth',
  9: 'ninth',
  12: 'twelfth',
}

const ordinal = (value: number): string => {
  if (irregular[value]) return irregular[value]
  if (value < 20) return `${small[value]}th`
  if (value % 10 === 0) return `${tens[value / 10]?.slice(0, -1)}ieth`
  return `${tens[Math.floor(value / 10)]}-${ordinal(value % 10)}`
}

const suffixed = (value: number): string => {
  const ending = value % 100 > 10 && value % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th')
  return `${value}${ending}`
}

const dayOf = (draw: Draw) => {
  const month = draw.below(12)
  return { month: month + 1, name: months[month] ?? '', day: draw.below(lengths[month] ?? 28) + 1 }
}

const said = (value: string, text: string, ...others: string[]) => ({ value, text, readings: [value, ...others] })

const dates: Record<string, Maker> = {
  'date in words': (draw) => {
    const { month, name, day } = dayOf(draw)
    const text = draw.one([
      `${name} ${suffixed(day)}`,
      `${name} ${day}`,
      `the ${suffixed(day)} of ${name}`,
      `the ${ordinal(day)} of ${name}`,
      `${name} the ${ordinal(day)}`,
      `${name} ${ordinal(day)}`,
    ])
    return said(`${two(month)}-${two(day)}`, text)
  },
  'date with a year': (draw) => {
    const { month, name, day } = dayOf(draw)
    const year = draw.one([1950 + draw.below(50), 2010 + draw.below(30)])
    const spelled = `${below100(Math.floor(year / 100))} ${year % 100 < 10 ? `oh ${small[year % 100]}` : below100(year % 100)}`
    const text = draw.one([
      `${name} ${suffixed(day)}, ${year}`,
      `${day} ${name} ${year}`,
      `the ${ordinal(day)} of ${name} ${year % 100 === 0 ? year : spelled}`,
      `${day}.${month}.${year}`,
      `${year}-${two(month)}-${two(day)}`,
    ])
    return said(`${year}-${two(month)}-${two(day)}`, text, `${two(month)}-${two(day)}`)
  },
  'day and month in digits': (draw) => {
    const { month, day } = dayOf(draw)
    const value = `${two(month)}-${two(day)}`
    const isDotted = draw.chance(0.5)
    const swapped = day <= 12 ? [`${two(day)}-${two(month)}`] : []
    return isDotted ? said(value, `${day}.${month}.`) : said(value, `${month}/${day}`, ...swapped)
  },
  time: (draw) => {
    const [hour, minute] = [draw.below(12) + 1, draw.below(50) + 10]
    const value = `${two(hour)}:${two(minute)}`
    return said(value, draw.one([`${hour}:${two(minute)}`, `${below100(hour)} ${below100(minute)}`]))
  },
  'time with its half of the day': (draw) => {
    const [hour, minute] = [draw.below(12) + 1, draw.below(50) + 10]
    const isAfter = draw.chance(0.5)
    const value = `${two((hour % 12) + (isAfter ? 12 : 0))}:${two(minute)}`
    const ending = isAfter ? draw.one(['pm', 'p.m.', 'in the afternoon']) : draw.one(['am', 'a.m.', 'in the morning'])
    return said(value, `${draw.one([`${hour}:${two(minute)}`, `${below100(hour)} ${below100(minute)}`])} ${ending}`)
  },
  'time by the quarter': (draw) => {
    const hour = draw.below(11) + 2
    const before = two(hour - 1)
    return draw.one([
      said(`${two(hour)}:30`, `half past ${small[hour]}`),
      said(`${two(hour)}:15`, `a quarter past ${small[hour]}`),
      said(`${before}:45`, `a quarter to ${small[hour]}`),
      said(`${two(hour)}:10`, `ten past ${small[hour]}`),
      said(`${before}:40`, `twenty to ${small[hour]}`),
      said(`${two(hour)}:05`, `${small[hour]} oh five`),
      said(`${two(hour)}:00`, `${small[hour]} o’clock`),
    ])
  },
}

export const forms: { form: string; type: 'number' | 'date'; make: Maker }[] = [
  ...Object.entries(numbers).map(([form, make]) => ({ form, type: 'number' as const, make })),
  ...Object.entries(dates).map(([form, make]) => ({ form, type: 'date' as const, make })),
]

export const speak = (draw: Draw, { form, type, make }: (typeof forms)[number]): Spoken => ({
  form,
  type,
  ...make(draw),
})

const changeDigit = (text: string, draw: Draw): string => {
  const places = [...text].flatMap((character, at) => (/\d/.test(character) ? [at] : []))
  const at = draw.one(places)
  const digit = (Number(text[at]) + 1 + draw.below(9)) % 10
  return `${text.slice(0, at)}${digit}${text.slice(at + 1)}`
}

const swapDigits = (text: string, draw: Draw): string => {
  const places = [...text].flatMap((_, at) => (/\d\d/.test(text.slice(at, at + 2)) ? [at] : []))
  if (places.length === 0) return text
  const at = draw.one(places)
  return `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`
}

const alterNumber = (value: number, draw: Draw): number =>
  draw.one([
    () => Number(changeDigit(String(value), draw)),
    () => Number(swapDigits(String(value), draw)),
    () => Number(String(value).slice(0, -1)),
    () => Number(`${String(value).replace('.', '')}`),
    () => value * 10,
    () => Number((value / 10).toPrecision(10)),
    () => Number((value + draw.one([1, -1, 0.5])).toPrecision(10)),
    () => -value,
    () => Math.round(value) + (Number.isInteger(value) ? 100 : 0),
    () => Number((value / 100).toPrecision(10)),
  ])()

const isDate = (value: string): boolean => {
  const [, month = '1', day = '1'] = /^(?:\d{4}-)?(\d\d)-(\d\d)/.exec(value) ?? []
  const [, hour = '0', minute = '0'] = /(\d\d):(\d\d)$/.exec(value) ?? []
  const isDay = Number(day) >= 1 && Number(day) <= (lengths[Number(month) - 1] ?? 0)
  return isDay && Number(hour) < 24 && Number(minute) < 60
}

const alterDate = (value: string, draw: Draw): string => {
  const [, hour, minute] = /(\d\d):(\d\d)$/.exec(value) ?? []
  const [, month, day] = /(\d\d)-(\d\d)$/.exec(value) ?? []
  const changes = [() => changeDigit(value, draw), () => swapDigits(value, draw)]
  if (hour !== undefined) {
    changes.push(
      () => `${two((Number(hour) + 12) % 24)}:${minute}`,
      () => `${hour}:00`,
      () => `${minute}:${hour}`,
    )
  }
  if (month !== undefined) {
    changes.push(() => value.replace(/(\d\d)-(\d\d)$/, `${day}-${month}`))
    if (value.length === 5) changes.push(() => `2026-${value}`)
  }
  return draw.one(changes)()
}

/** Returns another value of the same type, which the words may still mean. */
export const alter = ({ value }: Spoken, draw: Draw): number | string => {
  for (;;) {
    const altered = typeof value === 'number' ? alterNumber(value, draw) : alterDate(value, draw)
    const isValid = typeof altered === 'number' ? Number.isFinite(altered) : isDate(altered)
    if (isValid && altered !== value) return altered
  }
}
