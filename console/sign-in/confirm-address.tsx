import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { FaultNote } from '../ui/states.tsx'
import { CardPage } from './card-page.tsx'

/**
 * Shows the page that opens from the link in the email to a new address. It requires a click, because email scanners
 * also open links.
 */
export const ConfirmAddress = () => {
  const [token] = useState(() => location.hash.slice(1))
  const confirm = useMutation({
    mutationFn: () => answer(api.POST('/auth/address/confirm', { body: { token } })),
    onSuccess: () => queryClient.clear(),
  })
  return (
    <CardPage title="Confirm your email address">
      {confirm.data ? (
        <>
          <p role="status">
            You now sign in with <strong>{confirm.data.email}</strong>.
          </p>
          <p>
            <Link to="/">Continue</Link>
          </p>
        </>
      ) : (
        <>
          <p>Confirm that you want to use this address to sign in to Earshot.</p>
          {confirm.error && <FaultNote error={confirm.error} />}
          <div>
            <Button look="primary" busy={confirm.isPending} disabled={token === ''} onClick={() => confirm.mutate()}>
              Confirm address
            </Button>
          </div>
        </>
      )}
    </CardPage>
  )
}
