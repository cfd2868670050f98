import { useState } from 'react'
import styles from './companies.module.css'
import type { Company } from './queries.ts'

/** Shows the company's logo, or its initial if there is no logo or it can't be loaded. */
export const Logo = ({
  company: { name, logoUrl },
  large = false,
}: {
  company: Pick<Company, 'name' | 'logoUrl'>
  large?: boolean
}) => {
  const [broken, setBroken] = useState<string>()
  const className = large ? `${styles.logo} ${styles.large}` : styles.logo
  if (logoUrl === null || logoUrl === broken) {
    return (
      <span className={className} aria-hidden="true">
        {name.charAt(0).toUpperCase()}
      </span>
    )
  }
  return (
    <img
      className={className}
      src={logoUrl}
      alt=""
      loading="lazy"
      referrerPolicy="no-referrer"
      onError={() => setBroken(logoUrl)}
    />
  )
}
