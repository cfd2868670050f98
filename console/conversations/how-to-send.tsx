import { Code } from '../ui/copy.tsx'
import { Empty } from '../ui/states.tsx'

/** Returns the smallest request that creates a conversation. */
export const sendingLines = (origin: string, key = '$EARSHOT_KEY') => `curl ${origin}/v1/conversations \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{
    "agent": { "externalId": "front-desk", "name": "Front desk", "channel": "voice" },
    "channel": "call",
    "startedAt": "${new Date().toISOString()}",
    "transcript": [
      { "role": "agent", "text": "Hello, how can I help?" },
      { "role": "customer", "text": "I would like to move my appointment." }
    ]
  }'`

export const HowToSend = () => (
  <Empty title="No conversations yet">
    <p>
      All your agents’ calls and chats appear here. Send one with an API key (Settings → API keys), or connect the
      platform that runs your agents (Settings → Connections).
    </p>
    <Code>{sendingLines(location.origin)}</Code>
  </Empty>
)
