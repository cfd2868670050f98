import type { ComponentProps } from 'react'
import { BulkProgress } from './bulk-progress.tsx'
import { SelectedRows } from './selected-rows.tsx'

/** Shows actions on the selected rows, and the progress of earlier bulk actions. */
export const BulkBar = (props: ComponentProps<typeof SelectedRows>) => (
  <>
    {props.checked.size > 0 && <SelectedRows {...props} />}
    <BulkProgress />
  </>
)
