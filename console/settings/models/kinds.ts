import type { ProviderKind } from './queries.ts'

type SettingField = {
  name: 'baseUrl' | 'apiKey' | 'apiVersion' | 'region' | 'accessKeyId' | 'secretAccessKey'
  label: string
  hint?: string
  placeholder?: string
  required?: true
  /** Whether the value is a key, which is never shown again. */
  secret?: true
}

type KindOfProvider = {
  name: string
  fields: SettingField[]
  /** Whether the provider can be told to cache the instructions. */
  caching?: 'on' | 'off'
  modelLabel?: string
  modelPlaceholder: string
}

const otherAddress = 'Only for a proxy or a private endpoint.'

export const providerKinds: Record<ProviderKind, KindOfProvider> = {
  'openai-compatible': {
    name: 'OpenAI or compatible',
    fields: [
      {
        name: 'baseUrl',
        label: 'Base URL (optional)',
        hint: 'OpenAI if empty. For vLLM, OpenRouter, Groq, Mistral, and others, the address up to “/v1”.',
        placeholder: 'https://api.openai.com/v1',
      },
      {
        name: 'apiKey',
        label: 'API key',
        hint: 'For OpenAI, under platform.openai.com → API keys. Local models may need none.',
        secret: true,
      },
    ],
    modelPlaceholder: 'gpt-5-mini',
  },
  anthropic: {
    name: 'Anthropic',
    fields: [
      {
        name: 'apiKey',
        label: 'API key',
        hint: 'Under platform.claude.com → API keys.',
        required: true,
        secret: true,
      },
      { name: 'baseUrl', label: 'Base URL (optional)', hint: otherAddress, placeholder: 'https://api.anthropic.com' },
    ],
    caching: 'on',
    modelPlaceholder: 'claude-sonnet-5',
  },
  google: {
    name: 'Google Gemini',
    fields: [
      {
        name: 'apiKey',
        label: 'API key',
        hint: 'Under aistudio.google.com → Get API key.',
        required: true,
        secret: true,
      },
      {
        name: 'baseUrl',
        label: 'Base URL (optional)',
        hint: otherAddress,
        placeholder: 'https://generativelanguage.googleapis.com',
      },
    ],
    modelPlaceholder: 'gemini-3.8-flash',
  },
  'azure-openai': {
    name: 'Azure OpenAI',
    fields: [
      {
        name: 'baseUrl',
        label: 'Endpoint',
        hint: 'In the Azure portal, under your resource → Keys and Endpoint.',
        placeholder: 'https://your-resource.openai.azure.com',
        required: true,
      },
      {
        name: 'apiKey',
        label: 'API key',
        hint: 'Either of the two keys on the same page.',
        required: true,
        secret: true,
      },
      {
        name: 'apiVersion',
        label: 'API version (optional)',
        hint: 'Leave empty for the current API. Set only for a dated version.',
        placeholder: '2024-10-21',
      },
    ],
    modelLabel: 'Default deployment (optional)',
    modelPlaceholder: 'The name of your deployment',
  },
  bedrock: {
    name: 'AWS Bedrock',
    fields: [
      { name: 'region', label: 'Region', placeholder: 'eu-central-1', required: true },
      {
        name: 'accessKeyId',
        label: 'Access key ID',
        hint: 'In the AWS console under IAM, for a user with the bedrock:InvokeModel permission. Or use a Bedrock API key.',
      },
      { name: 'secretAccessKey', label: 'Secret access key', secret: true },
      {
        name: 'apiKey',
        label: 'Bedrock API key',
        hint: 'Instead of an access key. In the AWS console, under Bedrock → API keys.',
        secret: true,
      },
      { name: 'baseUrl', label: 'Endpoint (optional)', hint: otherAddress },
    ],
    caching: 'off',
    modelPlaceholder: 'eu.anthropic.claude-sonnet-5-v1:0',
  },
  ollama: {
    name: 'Ollama',
    fields: [
      {
        name: 'baseUrl',
        label: 'Base URL',
        hint: 'The operator has to allow private addresses (EARSHOT_ALLOWED_PRIVATE_ADDRESSES).',
        placeholder: 'http://localhost:11434',
        required: true,
      },
      {
        name: 'apiKey',
        label: 'API key (optional)',
        hint: 'Only if a proxy in front of Ollama requires one.',
        secret: true,
      },
    ],
    modelPlaceholder: 'llama3.3',
  },
}
