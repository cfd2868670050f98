import { useEffect, useState } from 'react'
import { useFormContext, useWatch } from 'react-hook-form'
import { leastLength, ratePassword } from '../lib/password-strength.ts'
import { TextField } from './form.tsx'
import styles from './new-password.module.css'

const pauseMs = 150

const wordsOf = (score: number): string => {
  if (score <= 1) return 'Easy to guess'
  return score === 2 ? 'Could be stronger' : score === 3 ? 'Strong' : 'Very strong'
}

/** Shows a password's strength while the user types. The password stays in the browser. */
const Strength = ({ password, known }: { password: string; known: string[] }) => {
  const [rated, setRated] = useState<{ password: string; score: number }>()
  const about = known.join('\n')
  useEffect(() => {
    if (password === '') return
    const timer = setTimeout(() => {
      // If the dictionaries can't be loaded, the server still checks the password.
      ratePassword(password, about.split('\n')).then(
        (score) => setRated({ password, score }),
        () => setRated(undefined),
      )
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [password, about])
  if (password === '' || !rated) return null
  const missing = leastLength - [...password].length
  const score = missing > 0 ? Math.min(rated.score, 1) : rated.score
  const words = missing > 0 ? `${missing} more ${missing === 1 ? 'character' : 'characters'} needed` : wordsOf(score)
  return (
    <div className={styles.strength} data-strong={score >= 3}>
      <meter min={0} max={4} low={2.5} high={2.9} optimum={4} value={score} aria-label="Strength" />
      <span role="status">{words}</span>
    </div>
  )
}

type NewPasswordProps = { name: string; label: string; known: string[] }

/** Shows a field for a new password, with its strength. */
export const NewPasswordField = ({ name, label, known }: NewPasswordProps) => {
  const { control } = useFormContext()
  const password = useWatch({ control, name })
  return (
    <div className={styles.field}>
      <TextField
        name={name}
        label={label}
        type="password"
        required
        maxLength={256}
        autoComplete="new-password"
        hint={`At least ${leastLength} characters. A few unrelated words work well.`}
      />
      {/* Reserve the space, so that the button below doesn't move when the strength appears. */}
      <div className={styles.room}>
        <Strength password={typeof password === 'string' ? password : ''} known={known} />
      </div>
    </div>
  )
}

/** Returns the error for a password that is too short, or undefined. */
export const shortPasswordFault = (password: string): string | undefined => {
  const { length } = [...password]
  return length < leastLength ? `Use at least ${leastLength} characters. You entered ${length}.` : undefined
}
