// Measures how often an extracted number or date is accepted, both for values that were said and for others.
import { isSupported } from '../server/monitors/judges/values/supported.ts'
import { passageOf } from '../server/monitors/judges/values/tokens.ts'
import { drawing } from '../test/support/exports/random.ts'
import { alter, forms, type Spoken, speak } from '../test/support/monitors/spoken-values.ts'
import { judge, print } from './report.ts'

const seed = 7
const perForm = 20_000

const draw = drawing(seed)

const isAccepted = ({ type, text }: Spoken, value: string | number): boolean =>
  isSupported({ key: 'value', type }, value, [passageOf(`Yes, that would be ${text}, please.`)])

const percent = (count: number, of: number): string => `${((100 * count) / of).toFixed(3)}%`

type Counts = { right: number; wrong: number; ambiguous: number }

const measure = (form: (typeof forms)[number]): Counts => {
  const counts = { right: 0, wrong: 0, ambiguous: 0 }
  for (let at = 0; at < perForm; at++) {
    const spoken = speak(draw, form)
    const altered = alter(spoken, draw)
    if (isAccepted(spoken, spoken.value)) counts.right++
    if (!isAccepted(spoken, altered)) continue
    if (spoken.readings.includes(altered)) counts.ambiguous++
    else counts.wrong++
  }
  return counts
}

print(`Values that were said, and altered ones, ${perForm.toLocaleString('en')} of each form (seed ${seed}):`)
print('| form | accepted if said | accepted if altered | of these, the words can also mean it |')
print('|---|---|---|---|')
const total = { right: 0, wrong: 0, ambiguous: 0 }
for (const form of forms) {
  const { right, wrong, ambiguous } = measure(form)
  total.right += right
  total.wrong += wrong
  total.ambiguous += ambiguous
  print(
    `| ${form.form} | ${percent(right, perForm)} | ${percent(wrong + ambiguous, perForm)} | ${percent(ambiguous, perForm)} |`,
  )
}
const all = perForm * forms.length
print(
  `| all | ${percent(total.right, all)} | ${percent(total.wrong + total.ambiguous, all)} | ${percent(total.ambiguous, all)} |`,
)
judge('share of said values that are accepted', (100 * total.right) / all, { atLeast: 99 }, '%')
judge(
  'share of altered values that are accepted without being a meaning',
  (100 * total.wrong) / all,
  { atMost: 0.1 },
  '%',
)
