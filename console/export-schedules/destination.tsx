// Shows the fields for the destination of the files, which is an S3 bucket or a webhook endpoint.
import { Link } from '@tanstack/react-router'
import { useEndpoints } from '../exports/queries.ts'
import { Choice, Field, Input, Row, Select } from '../ui/controls.tsx'
import type { Draft } from './draft.ts'
import styles from './schedules.module.css'

type FieldsProps = { draft: Draft; change: (part: Partial<Draft>) => void }

const Endpoint = ({ draft, change }: FieldsProps) => {
  const { active } = useEndpoints()
  if (active.length === 0) {
    return (
      <p className={styles.soft}>
        No active webhook endpoints. Add one under{' '}
        <Link to="/settings/$part" params={{ part: 'webhooks' }}>
          Settings → Webhooks
        </Link>
        .
      </p>
    )
  }
  return (
    <Field label="Webhook endpoint" hint="Receives an event for each file and can then download the file.">
      {(ids) => (
        <Select
          {...ids}
          value={draft.webhookEndpointId}
          options={[{ value: '', label: 'Choose endpoint…' }, ...active]}
          onChange={({ target }) => change({ webhookEndpointId: target.value })}
        />
      )}
    </Field>
  )
}

type Text = 'bucket' | 'region' | 'prefix' | 'endpoint' | 'accessKeyId' | 'secretAccessKey' | 'fileName'

const BucketFields = ({ draft, change, isNew }: FieldsProps & { isNew: boolean }) => {
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
        {text('accessKeyId', 'Access key ID', '')}
        {text(
          'secretAccessKey',
          'Secret access key',
          isNew ? '' : 'Unchanged',
          isNew ? undefined : 'Enter the key again if you change the bucket, endpoint, or key ID.',
          'password',
        )}
      </Row>
      {text('prefix', 'Folder', 'earshot/calls', 'Prefix for each file name.')}
      {text(
        'fileName',
        'File name',
        '{schedule}-{since}-{until}.{format}',
        'Placeholders: {schedule}, {since}, {until}, {date}, {run}, {format}.',
      )}
      {text('endpoint', 'Endpoint', 'https://…', 'Only for storage other than AWS.')}
      <Field label="Encryption">
        {(ids) => (
          <Select
            {...ids}
            value={draft.encryption}
            options={[
              { value: '', label: 'Bucket default' },
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

export const Destination = ({ draft, change, isNew }: FieldsProps & { isNew: boolean }) => (
  <>
    <Choice
      label="Destination"
      value={draft.to}
      options={[
        { value: 's3', label: 'S3 bucket' },
        { value: 'webhook', label: 'Webhook' },
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
