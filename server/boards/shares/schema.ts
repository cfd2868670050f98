import Type from 'typebox'
import { Closed, Id, Nullable, Page, Timestamp } from '../../platform/http/schemas.ts'
import { Board, Chart } from '../schema.ts'

const longestDays = 366

const BoardShare = Closed(
  {
    id: Id,
    boardId: Id,
    companyId: { ...Id, description: 'The link shows only this company’s conversations.' },
    createdByUserId: Id,
    createdAt: Timestamp,
    expiresAt: Timestamp,
    lastOpenedAt: { ...Nullable(Timestamp), description: 'When someone last opened the link.' },
  },
  { title: 'BoardShare' },
)

export const BoardSharePage = Page(BoardShare)

export const BoardShareCreate = Closed(
  {
    companyId: Id,
    expiresInDays: Type.Optional(
      Type.Integer({ minimum: 1, maximum: longestDays, description: 'Default: 30.', examples: [30] }),
    ),
  },
  { examples: [{ companyId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f', expiresInDays: 30 }] },
)

export const CreatedBoardShare = Closed(
  {
    ...BoardShare.properties,
    url: Type.String({
      description: 'The link, shown only in this response because Earshot stores a hash of its token.',
      examples: ['https://earshot.example.com/shared#earb_…'],
    }),
  },
  { title: 'CreatedBoardShare' },
)

export const ShareParams = Closed({ id: Id, shareId: Id })

const Token = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The part of the link after `#`.',
  examples: ['earb_AZejsF4cfDqaWT8fDC1OXwGXo7BeHHw6mlk_HwwtTl8wMTIzNDU2Nzg5YWJjZGVmZ2hpamts'],
})

export const SharedBoardRequest = Closed(
  { token: Token },
  { examples: [{ token: 'earb_AZejsF4cfDqaWT8fDC1OXwGXo7BeHHw6mlk_HwwtTl8wMTIzNDU2Nzg5YWJjZGVmZ2hpamts' }] },
)

export const SharedChartRequest = Closed(
  {
    token: Token,
    chartId: Id,
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The IANA time zone for days, hours, and weekdays. Default: the board’s time zone.',
        examples: ['Europe/Berlin'],
      }),
    ),
  },
  {
    examples: [
      {
        token: 'earb_AZejsF4cfDqaWT8fDC1OXwGXo7BeHHw6mlk_HwwtTl8wMTIzNDU2Nzg5YWJjZGVmZ2hpamts',
        chartId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f',
      },
    ],
  },
)

const { measure, groupBy, interval } = Chart.properties.query.properties

/** Filters are omitted, because they may name other companies. */
const SharedChart = Closed({
  ...Chart.properties,
  query: Closed({ measure, groupBy, interval }, { title: 'SharedChartQuery' }),
})

const { name, compareTo } = Board.properties

export const SharedBoard = Closed(
  {
    name,
    company: Closed({ name: Type.String(), logoUrl: Nullable(Type.String()) }),
    compareTo,
    charts: Type.Array(SharedChart, { description: 'In reading order.' }),
    expiresAt: Timestamp,
  },
  { title: 'SharedBoard' },
)
