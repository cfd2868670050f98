import { Link, type LinkProps } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import styles from './button.module.css'

type Look = 'primary' | 'plain' | 'quiet' | 'danger'

const classOf = (look: Look, small: boolean | undefined) =>
  [styles.button, styles[look], small && styles.small].filter(Boolean).join(' ')

type ButtonProps = Omit<ComponentProps<'button'>, 'className'> & { look?: Look; small?: boolean; busy?: boolean }

/** Shows a button that keeps its size and focus while busy, and ignores clicks. */
export const Button = ({ look = 'plain', small, busy = false, onClick, children, ...rest }: ButtonProps) => (
  <button
    type="button"
    {...rest}
    className={classOf(look, small)}
    aria-busy={busy || undefined}
    onClick={busy ? (event) => event.preventDefault() : onClick}
  >
    {children}
    {busy && <span className={styles.spinner} aria-hidden="true" />}
  </button>
)

type IconButtonProps = Omit<ComponentProps<'button'>, 'className' | 'children'> & { label: string; icon: ReactNode }

export const IconButton = ({ label, icon, ...rest }: IconButtonProps) => (
  <button type="button" {...rest} className={styles.icon} aria-label={label} title={label}>
    {icon}
  </button>
)

/** Shows a link that looks like a button. */
export const ButtonLink = ({
  look = 'plain',
  small,
  children,
  ...rest
}: LinkProps & { look?: Look; small?: boolean; children: ReactNode }) => (
  <Link {...rest} className={classOf(look, small)}>
    {children}
  </Link>
)
