// The pages by which people sign in, join and make a first key. Plain on purpose: one module, no dependencies.

const byId = (id) => document.getElementById(id)

const show = (id, visible = true) => {
  byId(id).hidden = !visible
}

/** A request to the service. Throws the Error body, with its status; 0 stands for a service out of reach. */
const ask = async (method, path, body) => {
  const response = await fetch(path, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => {
    throw { status: 0, message: 'Earshot cannot be reached. Check the connection and try again.' }
  })
  if (response.status === 204) return undefined
  const answer = await response.json().catch(() => ({ message: 'The answer could not be read; try again.' }))
  if (!response.ok) throw { ...answer, status: response.status }
  return answer
}

const setFault = (form, name, message) => {
  const field = form.elements[name]
  field.setAttribute('aria-invalid', String(message !== ''))
  byId(`${name}-fault`).textContent = message
}

const fieldsOf = (form) => [...form.elements].filter((field) => field.name && byId(`${field.name}-fault`))

const clearFaults = (form) => {
  for (const field of fieldsOf(form)) setFault(form, field.name, '')
  form.querySelector('[data-form-fault]').textContent = ''
}

const missing = { email: 'Enter your e-mail address.', name: 'Enter a name.', password: 'Enter a password.' }

/** Each fault stands by its field; what has no field stands above the button. The first faulty field is entered. */
const showFaults = (form, issues, message) => {
  const named = new Set(fieldsOf(form).map(({ name }) => name))
  for (const { path, message: fault } of issues) if (named.has(path)) setFault(form, path, fault)
  const rest = issues.filter(({ path }) => !named.has(path)).map((issue) => issue.message)
  form.querySelector('[data-form-fault]').textContent = issues.length === 0 ? message : rest.join(' ')
  form.querySelector('[aria-invalid="true"]')?.focus()
}

const localFaults = (form) =>
  fieldsOf(form).flatMap(({ name, type, value, required, minLength }) => {
    if (required && value.trim() === '') return [{ path: name, message: missing[name] }]
    if (type === 'email' && !/^\S+@\S+$/.test(value)) return [{ path: name, message: 'Enter a whole e-mail address.' }]
    if (minLength > 0 && [...value].length < minLength) {
      return [{ path: name, message: `Use at least ${minLength} characters; this has ${[...value].length}.` }]
    }
    return []
  })

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')

/** Sends a form once at a time; on a fault, everything typed stays. `explain` turns an Error into issues. */
const onSubmit = (form, send, explain = () => []) => {
  const button = form.querySelector('button[type="submit"]')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (button.getAttribute('aria-disabled') === 'true') return
    clearFaults(form)
    const faults = localFaults(form)
    if (faults.length > 0) return showFaults(form, faults)
    button.setAttribute('aria-disabled', 'true')
    try {
      await send(Object.fromEntries(new FormData(form)))
    } catch (error) {
      const own = (error.details?.issues ?? []).map(({ path, message }) => ({ path, message: sentence(message) }))
      const issues = own.length > 0 ? own : explain(error)
      showFaults(form, issues, error.message)
    } finally {
      button.removeAttribute('aria-disabled')
    }
  })
}

const startSignIn = () => {
  onSubmit(byId('sign-in'), async ({ email, password }) => {
    await ask('POST', '/auth/sign-in/email', { email: email.trim(), password })
    location.assign('/')
  })
  byId('email').focus()
}

const startWelcome = async () => {
  const token = location.hash.slice(1)
  const close = (message) => {
    show('checking', false)
    byId('closed-reason').textContent = message
    show('closed')
  }
  if (token === '') return close('The link is not whole: open it exactly as you were given it.')
  let offer
  try {
    offer = await ask('POST', '/auth/invitation/check', { token })
  } catch (error) {
    return close(error.status === 400 ? 'The link is not whole, or a fresher one has replaced it.' : error.message)
  }
  const password = byId('password')
  byId('organization').textContent = offer.organization
  byId('email').value = offer.email
  password.autocomplete = offer.newAccount ? 'new-password' : 'current-password'
  byId('kind-of-password').textContent = offer.newAccount
    ? 'Choose how you are called and how you sign in.'
    : 'You have an account already: give its password to join.'
  byId('password-hint').textContent = offer.newAccount
    ? 'At least 12 characters; a few unrelated words do well.'
    : 'The one that you sign in with.'
  if (offer.newAccount) password.minLength = 12
  show('checking', false)
  show('open')
  byId('name').focus()
  onSubmit(
    byId('welcome'),
    async ({ name, password: secret }) => {
      await ask('POST', '/auth/invitation', { token, name: name.trim(), password: secret })
      // The token is spent, and goes from the history too.
      location.replace('/')
    },
    (error) => (error.status === 401 ? [{ path: 'password', message: error.message }] : []),
  )
}

const option = (value, text, selected = false) => new Option(text, value, selected, selected)
const roles = ['viewer', 'member', 'admin', 'owner']

const showKeyForm = (role) => {
  const reachable = roles.slice(0, roles.indexOf(role) + 1)
  byId('key-role').replaceChildren(...reachable.map((name) => option(name, name, name === 'member')))
  show('keys')
  onSubmit(byId('key'), async ({ name, role: chosen }) => {
    const created = await ask('POST', '/v1/api-keys', { name: name.trim(), role: chosen })
    byId('made-key').value = created.key
    byId('made-note').textContent = `“${created.name}” is ready. Keep it now: it is not shown again.`
    show('made')
    byId('made-key').select()
  })
  byId('copy').addEventListener('click', async () => {
    const key = byId('made-key')
    key.select()
    // Without https the clipboard is closed to pages; the key stays selected for the keyboard.
    const copied = await navigator.clipboard?.writeText(key.value).then(
      () => true,
      () => false,
    )
    byId('made-note').textContent = copied ? 'Copied.' : 'Press Ctrl+C or ⌘C to copy it.'
  })
}

const startHome = async () => {
  let joined
  try {
    joined = (await ask('GET', '/auth/organizations')).data
  } catch (error) {
    if (error.status === 401) return location.replace('/sign-in')
    byId('loading').textContent = error.message
    return undefined
  }
  show('sign-out')
  byId('sign-out').addEventListener('click', async () => {
    // Whatever was wrong, the next page tells whether the session lives.
    await ask('POST', '/auth/sign-out').catch(() => {})
    location.replace('/sign-in')
  })
  const me = await ask('GET', '/v1/me').catch((error) => ({ error }))
  show('loading', false)
  if (me.error) {
    byId('outside-reason').textContent =
      me.error.status === 401 ? 'Ask an admin of yours for an invitation.' : me.error.message
    show('outside')
  } else {
    byId('organization').textContent = me.organization.name
    byId('person').textContent = `${me.member.name} (${me.member.email})`
    byId('role').textContent = me.role
    show('home')
    if (me.role === 'admin' || me.role === 'owner') showKeyForm(me.role)
  }
  const others = joined.filter(({ suspended, id }) => !suspended && id !== me.organization?.id)
  if (others.length === 0) return undefined
  const choices = others.map(({ id, name }) => option(id, name))
  byId('organizationId').replaceChildren(...choices)
  show('switch')
  if (me.error) byId('outside').append(byId('switch'))
  onSubmit(byId('switch'), async ({ organizationId }) => {
    await ask('POST', '/auth/organization', { organizationId })
    location.reload()
  })
  return undefined
}

const pages = { 'sign-in': startSignIn, welcome: startWelcome, home: startHome }
await pages[document.body.dataset.page]()
