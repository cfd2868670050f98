import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/controls.tsx'
import { lazy } from '../../ui/lazy.tsx'
import { Section } from '../../ui/page.tsx'
import { Await, FaultNote } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import styles from '../settings.module.css'
import { PriceText } from './price-text.tsx'
import { changeProvider, type OfferedModel, offeredOptions, type Provider } from './queries.ts'

const PriceDialog = lazy(async () => (await import('./price-dialog.tsx')).PriceDialog)

/** The maximum number of rows to show at once. Typing filters them. */
const mostShown = 50

/** Some providers offer hundreds of models. If there are at least this many, a search field appears. */
const manyModels = 10

/** Returns the offered models, including the default model even if the provider doesn't list it. */
const withDefault = (models: OfferedModel[], { settings, modelPrice }: Provider): OfferedModel[] => {
  const { model } = settings
  if (typeof model !== 'string' || models.some(({ id }) => id === model)) return models
  return [{ id: model, name: null, price: modelPrice }, ...models]
}

export const OfferedModels = ({ provider }: { provider: Provider }) => {
  const query = useQuery(offeredOptions(provider.id))
  const [search, setSearch] = useState('')
  const [priced, setPriced] = useState<OfferedModel>()
  const choose = useMutation({
    mutationFn: (model: string) => changeProvider(provider.id, { settings: { ...provider.settings, model } }),
  })
  const columns: Column<OfferedModel>[] = [
    {
      key: 'model',
      label: 'Model',
      cell: ({ id }) => (
        <span className={styles.wrap}>
          <code>{id}</code> {id === provider.settings.model && <Badge tone="accent">Default</Badge>}
        </span>
      ),
    },
    {
      key: 'price',
      label: 'Price per million tokens',
      from: 480,
      cell: ({ price }) => <PriceText price={price} />,
    },
    {
      key: 'ways',
      label: '',
      cell: (model) => (
        <div className={styles.cellWays}>
          <Button small look="quiet" aria-label={`Price of ${model.id}`} onClick={() => setPriced(model)}>
            Price
          </Button>
          {model.id !== provider.settings.model && (
            <Button
              small
              look="quiet"
              aria-label={`Use as default: ${model.id}`}
              busy={choose.isPending && choose.variables === model.id}
              onClick={() => choose.mutate(model.id)}
            >
              Use as default
            </Button>
          )}
        </div>
      ),
    },
  ]
  return (
    <Section title="Offered models">
      {choose.error && <FaultNote error={choose.error} />}
      <Await query={query}>
        {({ data, message, priceTable }) => {
          const models = withDefault(data, provider)
          const found = models.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(search.toLowerCase()))
          return (
            <div className={styles.stack}>
              {message !== null && <p className={styles.warning}>{message}</p>}
              {models.length > manyModels && (
                <Field label="Search models">
                  {(ids) => <Input {...ids} value={search} onChange={({ target }) => setSearch(target.value)} />}
                </Field>
              )}
              {found.length > 0 && (
                <Table
                  label="Offered models"
                  columns={columns}
                  rows={found.slice(0, mostShown)}
                  idOf={({ id }) => id}
                />
              )}
              {found.length === 0 && message === null && <p>No models match.</p>}
              {found.length > mostShown && <p className={styles.soft}>Type to find more.</p>}
              <p className={styles.foot}>
                Prices are in US dollars for input / output. The bundled table is {priceTable.source} of{' '}
                {priceTable.date}; a price that you set replaces it.
              </p>
            </div>
          )
        }}
      </Await>
      {priced && (
        <PriceDialog
          key={priced.id}
          provider={provider}
          model={priced.id}
          price={priced.price}
          onClose={() => setPriced(undefined)}
        />
      )}
    </Section>
  )
}
