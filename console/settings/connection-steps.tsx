import type { ReactNode } from 'react'
import { Section } from '../ui/page.tsx'
import { providerNames } from './connection-dialog.tsx'
import { reasonOutOfReach } from './outside.ts'
import type { Integration } from './queries.ts'
import styles from './settings.module.css'

const guide = (anchor: string) => <a href={`/docs/guide/ingest#${anchor}`}>the guide</a>

/** The steps at the provider, in the provider's own terms. */
const steps: Record<Integration['provider'], ReactNode[]> = {
  vapi: [
    'In Vapi, create a custom credential with the secret that you entered here.',
    'Set the server URL of your assistant, or of your whole organization, to the webhook URL above, and choose that credential.',
    <>
      Keep <code>end-of-call-report</code> among the server messages. Earshot reads the conversation from it.
    </>,
  ],
  retell: [
    'In Retell, set the webhook URL of your agent, or of your whole account, to the one above.',
    'As the secret here, use the API key with the webhook badge, because Retell signs with that key.',
    <>
      Leave the events <code>call_ended</code> and <code>call_analyzed</code> on.
    </>,
  ],
  elevenlabs: [
    'In ElevenLabs, create a post-call webhook with the URL above and HMAC authentication.',
    'Copy its signing secret. If it isn’t the one that you entered, use “Rotate secret” here.',
    'Choose transcripts and, if you want recordings, audio.',
    'ElevenLabs doesn’t repeat failed webhooks, so set up pull sync below as well.',
  ],
  twilio: [
    'In Twilio, open your Conversational Intelligence service and set its webhook to the URL above, with POST.',
    <>
      Twilio signs the URL it calls, so the operator must set <code>EARSHOT_BASE_URL</code> to this address.
    </>,
    <>
      To store recordings, use the same URL as the <code>recordingStatusCallback</code> of your calls.
    </>,
  ],
  livekit: [
    'LiveKit doesn’t send session reports itself: your agent’s worker posts them when a session ends.',
    <>
      Post the report to the URL above, signed with a token of your API key and secret. See {guide('livekit')} for an
      example.
    </>,
  ],
}

/** Shows how to set up the provider, until its first webhook has arrived. */
export const ConnectionSteps = ({ provider, address }: { provider: Integration['provider']; address: string }) => {
  const reason = reasonOutOfReach(address)
  return (
    <Section title={`Set up ${providerNames[provider]}`} context="Until the first webhook arrives">
      {reason && (
        <p role="note" className={styles.warning}>
          {reason} Open the console at the public address of this service, or use a tunnel while you try it.
        </p>
      )}
      <ol className={styles.numbered}>
        {[...steps[provider], 'Make a call. The delivery appears below seconds after the call ends.'].map(
          (step, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the steps never change
            <li key={at}>{step}</li>
          ),
        )}
      </ol>
    </Section>
  )
}
