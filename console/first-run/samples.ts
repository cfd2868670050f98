// The same conversation in several languages.

export const javascriptSample = (
  origin: string,
  key: string,
  startedAt: string,
): string => `await fetch('${origin}/v1/conversations', {
  method: 'POST',
  headers: { authorization: 'Bearer ${key}', 'content-type': 'application/json' },
  body: JSON.stringify({
    agent: { externalId: 'front-desk', name: 'Front desk', channel: 'voice' },
    channel: 'call',
    startedAt: '${startedAt}',
    transcript: [
      { role: 'agent', text: 'Hello, how can I help?' },
      { role: 'customer', text: 'I would like to move my appointment.' },
    ],
  }),
})`

export const pythonSample = (origin: string, key: string, startedAt: string): string => `import json, urllib.request

conversation = {
    "agent": {"externalId": "front-desk", "name": "Front desk", "channel": "voice"},
    "channel": "call",
    "startedAt": "${startedAt}",
    "transcript": [
        {"role": "agent", "text": "Hello, how can I help?"},
        {"role": "customer", "text": "I would like to move my appointment."},
    ],
}
urllib.request.urlopen(urllib.request.Request(
    "${origin}/v1/conversations",
    data=json.dumps(conversation).encode(),
    headers={"Authorization": "Bearer ${key}", "Content-Type": "application/json"},
))`
