import { hash } from 'node:crypto'
import type { Access } from './access.ts'
import { exampleOf, type JsonSchema } from './examples.ts'
import type { OpenApiDocument, Operation } from './openapi.ts'
import { style } from './reference-style.ts'

/** The interface as one readable, printable page without a script: nothing on it comes from elsewhere. */

export const referencePolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; frame-ancestors 'none'; base-uri 'none'`

type Markup = { readonly markup: string }

const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`).replace(/`([^`]+)`/g, '<code>$1</code>')

const toMarkup = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(toMarkup).join('')
  if (typeof value === 'object' && value !== null && 'markup' in value) return (value as Markup).markup
  return value === undefined || value === false ? '' : escapeText(String(value))
}

/** Everything put into the page is escaped, unless it is markup made here. */
const html = (strings: TemplateStringsArray, ...values: unknown[]): Markup => ({
  markup: strings.reduce((page, text, index) => page + toMarkup(values[index - 1]) + text),
})

const slug = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-')

const refName = (schema: JsonSchema): string | undefined => schema.$ref?.split('/').at(-1)

const typeOf = (schema: JsonSchema): Markup => {
  const name = refName(schema)
  if (name) return html`<a href="#schema-${slug(name)}">${name}</a>`
  if (schema.anyOf) return html`${schema.anyOf.map((part, index) => html`${index > 0 && ' or '}${typeOf(part)}`)}`
  const { data, nextCursor } = schema.properties ?? {}
  if (data?.items && nextCursor) return html`page of ${typeOf(data.items)}`
  const types = [schema.type ?? 'any'].flat()
  if (types[0] === 'array') return html`array of ${typeOf(schema.items ?? {})}`
  return html`${types.map((type) => (type === 'string' && schema.format ? schema.format : type)).join(' or ')}`
}

const rulesOf = (schema: JsonSchema): string => {
  const { enum: choices, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema
  const range = (low: number | undefined, high: number | undefined, unit: string) =>
    low === undefined && high === undefined ? [] : [`${low ?? ''}..${high ?? ''}${unit}`]
  return [
    ...(choices ? [choices.map((choice) => `\`${choice}\``).join(', ')] : []),
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' items'),
    ...(schema.default === undefined ? [] : [`default \`${JSON.stringify(schema.default)}\``]),
  ].join(' · ')
}

const fieldRow = (name: string, schema: JsonSchema, required: boolean): Markup => html`
  <tr>
    <th scope="row"><code>${name}</code>${required ? '' : html` <em>optional</em>`}</th>
    <td>${typeOf(schema)}</td>
    <td>${schema.description} ${rulesOf(schema)}</td>
  </tr>`

const fieldsOf = (schema: JsonSchema, prefix = ''): Markup[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    fieldRow(prefix + name, property, schema.required?.includes(name) ?? false),
    ...fieldsOf(property, `${prefix}${name}.`),
  ])

const table = (caption: string, rows: Markup[]): Markup | '' =>
  rows.length === 0 ? '' : html`<table><caption>${caption}</caption><tbody>${rows}</tbody></table>`

const accessText = (access: Access): string => {
  if (access === 'public') return 'No key'
  if (access === 'service') return 'Service key'
  const needs = [access.entitlement, access.feature].filter((name) => name !== undefined)
  return `Role ${access.role}${needs.length > 0 ? `, with ${needs.join(' and ')}` : ''}`
}

/** For bodies that are no JSON: a type that fits, and the name of a file to send. */
const rawExamples: Record<string, [type: string, file: string]> = {
  'image/*': ['image/png', 'logo.png'],
  'audio/*': ['audio/wav', 'recording.wav'],
  '*/*': ['application/json', 'payload.json'],
}

const curl = (method: string, path: string, operation: Operation): string => {
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const parts = [`curl -X ${method.toUpperCase()} "$EARSHOT_URL${path}"`]
  if (operation['x-access'] !== 'public') parts.push('-H "Authorization: Bearer $EARSHOT_KEY"')
  if (operation.requestBody?.required === false) return parts.join(' \\\n  ')
  if (type === 'application/json') {
    parts.push('-H "Content-Type: application/json"', `-d '${JSON.stringify(content?.example, null, 2)}'`)
  } else if (type) {
    const [sent, file] = rawExamples[type] ?? ['application/octet-stream', 'body']
    parts.push(`-H "Content-Type: ${sent}"`, `--data-binary @${file}`)
  }
  return parts.join(' \\\n  ')
}

const responses = (operation: Operation): Markup[] =>
  Object.entries(operation.responses).map(([status, { description, headers, content }]) => {
    const schema = Object.values(content ?? {})[0]?.schema
    const names = Object.keys(headers ?? {}).map((name) => html` <code>${name}</code>`)
    return html`<tr><th scope="row"><code>${status}</code></th><td>${schema && typeOf(schema)}${names}</td><td>${description}</td></tr>`
  })

const operationCard = (path: string, method: string, operation: Operation): Markup => {
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1]
  const example = success?.content?.['application/json']?.example
  const parameters = (operation.parameters ?? []).map(({ name, schema, required, description }) =>
    fieldRow(name, { ...schema, ...(description && { description }) }, required ?? false),
  )
  return html`
  <article id="${operation.operationId}">
    <h3><a href="#${operation.operationId}">${operation.summary}</a></h3>
    <p class="address"><b>${method.toUpperCase()}</b> <code>${path}</code> <span>${accessText(operation['x-access'])}</span></p>
    ${operation.description && html`<p>${operation.description}</p>`}
    ${table('Parameters', parameters)}
    ${body && table('Body', fieldsOf(body))}
    ${table('Answers', responses(operation))}
    <details><summary>Example</summary><pre>${curl(method, path, operation)}</pre>
    ${example !== undefined && example !== null && html`<pre>${JSON.stringify(example, null, 2)}</pre>`}</details>
  </article>`
}

export const referencePage = (document: OpenApiDocument): string => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const areas = document.tags
    .map((tag) => ({ ...tag, operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)) }))
    .filter((area) => area.operations.length > 0)
  const schemas = Object.entries(document.components.schemas)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title} API reference</title>
<style>STYLE</style>
</head>
<body>
<nav aria-label="Operations">
  <p><b>${document.info.title}</b> ${document.info.version}</p>
  <p><a href="/docs/guide">Guide</a></p>
  ${areas.map(
    (area) => html`<p><a href="#${slug(area.name)}">${area.name}</a></p>
  <ul>${area.operations.map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}</ul>`,
  )}
  <p><a href="#schemas">Schemas</a></p>
  <p><a href="/openapi.json">openapi.json</a></p>
</nav>
<main>
<h1>${document.info.title} API reference</h1>
<p>${document.info.description}</p>
${areas.map(
  (area) => html`<section><h2 id="${slug(area.name)}">${area.name}</h2><p>${area.description}</p>
${area.operations.map(({ path, method, operation }) => operationCard(path, method, operation))}</section>`,
)}
<section><h2 id="schemas">Schemas</h2>
${schemas.map(
  ([name, schema]) => html`<article id="schema-${slug(name)}"><h3>${name}</h3>${table('Fields', fieldsOf(schema))}
<details><summary>Example</summary><pre>${JSON.stringify(exampleOf(schema), null, 2)}</pre></details></article>`,
)}</section>
</main>
</body>
</html>`
  // Put in last and unescaped: the policy allows this very text by its hash.
  return page.markup.replace('STYLE', () => style)
}
