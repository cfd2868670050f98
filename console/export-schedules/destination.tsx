// Where the files go: a bucket of one's own, or word to a webhook endpoint.
import { Link } from '@tanstack/react-router'
import { useEndpoints } from '../exports/queries.ts'
import { Choice, Field, Input, Row, Select } from '../ui/controls.tsx'
import type { Draft } from './draft.ts'
import styles from './schedules.module.css'

type Part = { draft: Draft; change: (part: Partial<Draft>) => void }

const Endpoint = ({ draft, change }: Part) => {
  const { active } = useEndpoints()
  if (active.length === 0) {
    return (
      <p className={styles.soft}>
        There is no active endpoint.{' '}
        <Link to="/settings/$part" params={{ part: 'webhooks' }}>
          Webhooks
        </Link>{' '}
        are set up in the settings.
      </p>
    )
  }
  return (
    <Field label="Endpoint" hint="It is told of each file, and fetches it here.">
      {(ids) => (
        <Select
          {...ids}
          value={draft.webhookEndpointId}
          options={[{ value: '', label: 'Choose…' }, ...active]}
          onChange={({ target }) => change({ webhookEndpointId: target.value })}
        />
      )}
    </Field>
  )
}

type Text = 'bucket' | 'region' | 'prefix' | 'endpoint' | 'accessKeyId' | 'secretAccessKey' | 'fileName'

const BucketFields = ({ draft, change, isNew }: Part & { isNew: boolean }) => {
  const text = (name: Text, label: string, placeholder: string, hint?: string, type = 'text') => (
    <Field label={label} hint={hint}>
      {(ids) => (
        <Input
          {...ids}
          type={type}
          autoComplete="off"
          spellCheck={false}
          value={draft[name]}
          placeholder={placeholder}
          onChange={({ target }) => change({ [name]: target.value })}
        />
      )}
    </Field>
  )
  return (
    <>
      <Row>
        {text('bucket', 'Bucket', 'acme-exports')}
        {text('region', 'Region', 'eu-central-1')}
      </Row>
      <Row>
        {text('accessKeyId', 'Access key id', '')}
        {text(
          'secretAccessKey',
          'Secret access key',
          isNew ? '' : 'As it is',
          isNew ? undefined : 'Needed again with another bucket, endpoint or key.',
          'password',
        )}
      </Row>
      {text('prefix', 'Folder', 'earshot/calls', 'Stands before each file’s name.')}
      {text(
        'fileName',
        'File name',
        '{schedule}-{since}-{until}.{format}',
        'Knows {schedule}, {since}, {until}, {date}, {run} and {format}.',
      )}
      {text('endpoint', 'Endpoint', 'https://…', 'Only for stores other than AWS.')}
      <Field label="Encryption">
        {(ids) => (
          <Select
            {...ids}
            value={draft.encryption}
            options={[
              { value: '', label: 'As the bucket has it' },
              { value: 'AES256', label: 'AES256' },
              { value: 'aws:kms', label: 'aws:kms' },
            ]}
            onChange={({ target }) => change({ encryption: target.value as Draft['encryption'] })}
          />
        )}
      </Field>
    </>
  )
}

export const Destination = ({ draft, change, isNew }: Part & { isNew: boolean }) => (
  <>
    <Choice
      label="Send it to"
      value={draft.to}
      options={[
        { value: 's3', label: 'A bucket (S3)' },
        { value: 'webhook', label: 'A webhook' },
      ]}
      onChange={(to) => change({ to: to === 'webhook' ? 'webhook' : 's3' })}
    />
    {draft.to === 's3' ? (
      <BucketFields draft={draft} change={change} isNew={isNew} />
    ) : (
      <Endpoint draft={draft} change={change} />
    )}
  </>
)
