import type { ComponentProps } from 'react'
import { BulkProgress } from './bulk-progress.tsx'
import { SelectedRows } from './selected-rows.tsx'

/** What can be done with the selected rows, and the progress of what was done before. */
export const BulkBar = (props: ComponentProps<typeof SelectedRows>) => (
  <>
    {props.checked.size > 0 && <SelectedRows {...props} />}
    <BulkProgress />
  </>
)
