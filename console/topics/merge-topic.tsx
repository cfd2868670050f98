import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { Fault } from '../api/fault.ts'
import { announce } from '../ui/announce.tsx'
import { ChooserOfOne } from '../ui/chooser.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { nameOf, refreshTopics, type TopicDetail, topicsOptions } from './topic-queries.ts'

/** Merges a topic into another. */
export const MergeTopic = ({ topic, onClose }: { topic: TopicDetail; onClose: () => void }) => {
  const navigate = useNavigate()
  const [into, setInto] = useState<string | null>(null)
  const { data } = useQuery(topicsOptions({ sort: 'size', hidden: true }))
  const others = (data?.data ?? []).filter(({ id, isGroup }) => id !== topic.id && !isGroup)
  return (
    <Confirm
      title={`Merge “${nameOf(topic)}”?`}
      action="Merge topic"
      open
      onClose={onClose}
      run={async () => {
        if (into === null) throw new Fault({ status: -1, message: 'Choose a topic to merge into.' })
        await answer(api.POST('/v1/topics/{id}/merge', { params: { path: { id: topic.id } }, body: { into } }))
        await refreshTopics()
        announce('Topics merged')
        await navigate({ to: '/topics/$id', params: { id: into } })
      }}
    >
      <ChooserOfOne
        label="Merge into"
        options={others.map((other) => ({ value: other.id, label: nameOf(other) }))}
        value={into}
        onChange={setInto}
        placeholder="Search topics"
      />
      <p>The other topic will represent both, also in filters and after later builds. You can separate them again.</p>
    </Confirm>
  )
}
