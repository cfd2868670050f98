import Type from 'typebox'
import { tableFormats } from '../../exports/formats/formats.ts'
import { ExportFilter, exportStatuses, manifestFields, OperationId } from '../../exports/manifest.ts'
import { Choice, Closed, Id, PageQuery } from '../../platform/http/schemas.ts'

const ExperimentExportConfig = Closed(
  {
    format: Type.Optional(Choice(tableFormats, { default: 'csv' })),
    reasoning: Type.Optional(Type.Boolean({ default: false, description: 'Adds a reasoning column per outcome.' })),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        default: 'UTC',
        description: 'The IANA time zone for the experiment’s dates in the file. Timestamps are in UTC.',
        examples: ['Europe/Berlin'],
      }),
    ),
  },
  { title: 'ExperimentExportConfig', examples: [{ format: 'parquet' }] },
)

export const ExperimentExportCreate = Closed({ operationId: OperationId, config: ExperimentExportConfig })

export const ExperimentExport = Closed(
  {
    id: Id,
    experimentId: Id,
    operationId: Id,
    status: Choice(exportStatuses),
    config: ExperimentExportConfig,
    ...manifestFields,
  },
  { title: 'ExperimentExport' },
)

export const ExportParams = Closed({ id: Id, exportId: Id })

export const ExportQuery = Closed({ ...PageQuery.properties, ...ExportFilter })
