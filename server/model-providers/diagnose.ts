import type { EndpointError } from './requests/endpoint-error.ts'
import type { TestProblem } from './schema.ts'

export type Diagnosis = { problem: TestProblem; message: string }

/** The error codes that providers return for a model or deployment that does not exist. */
const unknownModel = new Set([
  'model_not_found',
  'not_found_error',
  'NOT_FOUND',
  'NotFoundError',
  'DeploymentNotFound',
  'ResourceNotFoundException',
])

/** The error codes that AWS returns for invalid keys, with the status 403. */
const wrongKey = new Set([
  'API_KEY_INVALID',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'InvalidClientTokenId',
  'ExpiredTokenException',
])

const noCredit = new Set(['insufficient_quota', 'billing_error'])

const quoted = (model: string | undefined): string => (model === undefined ? 'the model' : `the model “${model}”`)

type Answer = { status: number; word: string | undefined; model: string | undefined }

const ofNotFound = ({ word, model }: Answer): Diagnosis => {
  if (word !== undefined && unknownModel.has(word)) {
    return { problem: 'unknown_model', message: `The provider does not have ${quoted(model)}. Choose another one.` }
  }
  return { problem: 'wrong_address', message: 'No model API responds at this address. Check the base URL.' }
}

const ofStatus = (answer: Answer): Diagnosis => {
  const { status, word, model } = answer
  const shown = `status ${status}${word === undefined ? '' : `, ${word}`}`
  if (word !== undefined && noCredit.has(word)) {
    return { problem: 'no_credit', message: `The account has no credit left (${shown}). Check its billing.` }
  }
  if (status === 401 || (word !== undefined && wrongKey.has(word))) {
    return { problem: 'wrong_key', message: `The provider rejected the key (${shown}). Check it and enter it again.` }
  }
  if (status === 402) {
    return { problem: 'no_credit', message: `The account has no credit left (${shown}). Check its billing.` }
  }
  if (status === 403) {
    const message = `The provider does not let this key use ${quoted(model)} (${shown}). Check the key’s permissions.`
    return { problem: 'no_access', message }
  }
  if (status === 404 || status === 405) return ofNotFound(answer)
  if (status === 429) {
    return { problem: 'too_many_requests', message: `The provider limits requests (${shown}). Try again in a minute.` }
  }
  if (status >= 500) return { problem: 'failing', message: `The provider is failing (${shown}). Try again later.` }
  if (status < 400) {
    return { problem: 'wrong_address', message: `The address responds with a redirect (${shown}). Check the base URL.` }
  }
  const message = `The provider rejected the request (${shown}). The model may not exist there or may not take a JSON schema.`
  return { problem: 'rejected', message }
}

const ofConnection = (unreached: NonNullable<EndpointError['unreached']>, message: string): Diagnosis => {
  if (unreached === 'forbidden_address') {
    const how = 'The operator can allow private networks with EARSHOT_ALLOWED_PRIVATE_ADDRESSES.'
    return { problem: 'address_not_allowed', message: message.includes('EARSHOT_') ? message : `${message} ${how}` }
  }
  if (unreached === 'timed_out') return { problem: 'timed_out', message: `The test timed out. ${message}` }
  if (unreached === 'too_large') {
    return { problem: 'wrong_address', message: 'The response is too large to come from a model. Check the base URL.' }
  }
  return { problem: 'unreachable', message: `The address can’t be reached. ${message} Check the base URL.` }
}

/** Explains in plain words why a request to a provider failed and what to do. */
export const diagnose = (error: EndpointError, model: string | undefined): Diagnosis => {
  const { unreached, status, word, message, messageWithHost } = error
  if (unreached !== undefined) return ofConnection(unreached, messageWithHost)
  if (status !== undefined) return ofStatus({ status, word, model })
  return { problem: 'wrong_address', message: `${message[0]?.toUpperCase()}${message.slice(1)}. Check the base URL.` }
}
