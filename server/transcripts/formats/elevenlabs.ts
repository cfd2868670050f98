import type { Reader, TurnDraft } from '../draft.ts'
import { at, booleanOf, entriesOf, idOf, type JsonObject, listAt, secondsToMs, someEntry, textOf } from '../json.ts'
import { type SpokenEntry, spokenEntries } from '../roles.ts'

/** Reads ElevenLabs' `data.transcript`. It has the start of each entry in whole seconds, but no end. */

const metric = (entry: JsonObject, name: string) =>
  secondsToMs(at(entry, 'conversation_turn_metrics', 'metrics', name, 'elapsed_time'))

const listIn = (entry: JsonObject, name: string, what: string) => {
  const list = entry[name]
  return entriesOf(Array.isArray(list) ? list : [], what)
}

function* draftsOf({ entry, role }: SpokenEntry): Generator<TurnDraft> {
  const startMs = secondsToMs(entry.time_in_call_secs)
  const text = textOf(entry.message)
  if (text !== null) {
    yield {
      role,
      kind: 'message',
      text,
      startMs,
      interrupted: entry.interrupted === true,
      latency: {
        transcriptionMs: metric(entry, 'convai_asr_trailing_service_latency'),
        modelMs: metric(entry, 'convai_llm_service_ttfb'),
        voiceMs: metric(entry, 'convai_tts_service_ttfb'),
      },
    }
  }
  for (const call of listIn(entry, 'tool_calls', 'tool call')) {
    const tool = { callId: idOf(call.request_id), name: textOf(call.tool_name), arguments: call.params_as_json }
    yield { role: 'agent', kind: 'tool_call', startMs, tool }
  }
  for (const result of listIn(entry, 'tool_results', 'tool result')) {
    const tool = {
      callId: idOf(result.request_id),
      name: textOf(result.tool_name),
      result: result.result_value,
      isError: booleanOf(result.is_error),
    }
    yield { role: 'tool', kind: 'tool_result', startMs, tool }
  }
}

function* read(entries: unknown[]): Generator<TurnDraft> {
  for (const spoken of spokenEntries(entries)) yield* draftsOf(spoken)
}

const isElevenlabs = (entry: JsonObject) =>
  'time_in_call_secs' in entry || ('message' in entry && 'tool_results' in entry)

export const readElevenlabs: Reader = (content) => {
  const entries = listAt(content, 'transcript', 'data.transcript')
  return entries && someEntry(entries, isElevenlabs) ? read(entries) : undefined
}
