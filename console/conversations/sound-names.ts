// The sound measures that people can display, filter, and sort by, with their labels.

const sides = { agent: 'Agent', customer: 'Customer' }
const statistics = { p50: ', median', p95: ', p95', max: ', longest', count: ', count' }

const bySide = {
  responseMs: 'response time',
  stopMs: 'time to stop',
  firstSpeechMs: 'first speech',
  talkMs: 'speech',
  interruptions: 'interruptions',
  speechDb: 'speech level',
  noiseDb: 'background level',
  loudnessLufs: 'loudness',
  echoDb: 'echo',
}

const labels: Record<string, string> = {
  reportedLatencyDifferenceMs: 'Response time, measured minus reported',
  talkRatio: 'Talk ratio in the recording',
  talkOverMs: 'Talk-over',
  silenceMs: 'Silence',
  longestSilenceMs: 'Longest silence in the recording',
  peakDb: 'Peak level',
  clippedSamples: 'Clipped samples',
  dropouts: 'Dropouts',
  loudnessDifferenceLu: 'Loudness, agent minus customer',
  overallLoudnessLufs: 'Loudness',
  loudnessRangeLu: 'Loudness range',
  packetGaps: 'Packet gaps',
  dtmfDigits: 'Keypad tones',
  tones: 'Tones',
  beeps: 'Beeps',
  holdMusicMs: 'Hold music',
  cutOffEnds: 'Cut-off ends',
}

for (const [measure, label] of Object.entries(bySide)) {
  const parts = measure === 'responseMs' || measure === 'stopMs' ? Object.entries(statistics) : [['', '']]
  for (const [side, who] of Object.entries(sides)) {
    for (const [statistic, more] of parts) {
      labels[[measure, side, statistic].filter(Boolean).join('.')] = `${who} ${label}${more}`
    }
  }
}

export const soundNames = Object.keys(labels)

export const soundLabel = (name: string): string => labels[name] ?? name

export const soundOptions = soundNames.map((value) => ({ value, label: soundLabel(value) }))
