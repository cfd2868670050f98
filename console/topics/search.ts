export type TopicsSearch = { tab?: 'uncovered'; sort?: 'size'; hidden?: true }

export const readTopicsSearch = ({ tab, sort, hidden }: Record<string, unknown>): TopicsSearch => ({
  ...(tab === 'uncovered' && { tab }),
  ...(sort === 'size' && { sort }),
  ...(hidden === true && { hidden }),
})
