import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { Await } from '../ui/states.tsx'
import { Door } from './door.tsx'
import { useOwnInvitations } from './invitations.tsx'

/** For a person who is signed in, and a member of nothing that is in service. */
export const Outside = () => {
  const navigate = useNavigate()
  const joined = useQuery({ queryKey: ['organizations'], queryFn: () => answer(api.GET('/auth/organizations')) })
  const invitations = useOwnInvitations().data?.data ?? []
  const leave = async () => {
    await api.POST('/auth/sign-out', { body: {} }).catch(() => undefined)
    queryClient.clear()
    await navigate({ to: '/sign-in' })
  }
  return (
    <Door title="There is nothing to see for you here">
      <Await query={joined} lines={1}>
        {({ data }) => (
          <p>
            {data.length === 0
              ? 'You are in no organization. Ask an admin of yours for an invitation.'
              : `${data.map(({ name }) => name).join(', ')} is suspended. Ask the operator of Earshot.`}
          </p>
        )}
      </Await>
      {invitations.length > 0 && (
        <p>
          <Link to="/invitations">See your invitations</Link>
        </p>
      )}
      <div>
        <Button onClick={() => void leave()}>Sign out</Button>
      </div>
    </Door>
  )
}
