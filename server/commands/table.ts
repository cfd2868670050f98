import type { Option, Spec } from './call.ts'

/** Every command: what its help tells, what is completed in a shell, and what is read when it is called. */

const json: Option = { about: 'print JSON' }

/** Of what asks a service. */
const service = {
  url: { value: 'URL', about: 'the service; EARSHOT_URL, or the one that this machine’s switches describe' },
  key: { value: 'KEY', about: 'better in EARSHOT_KEY, which no list of processes shows' },
  json,
} satisfies Record<string, Option>

const printCredentials: Option = {
  about: 'print the link to sign in and the key of a first start even if the output is not a terminal',
}
const quiet: Option = { about: 'no progress' }
const addNode: Record<string, Option> = {
  'add-node': { value: 'HOST:PORT', many: true, about: 'add this node to the cluster first, if it is not in it' },
}
const blockWrites: Record<string, Option> = {
  'block-writes': { about: 'let writes to a shard wait while it moves, which needs no wal_level = logical' },
}
const period = {
  since: {
    value: 'WHEN',
    about: 'first instant: 2026-11-01, 2026-11-01T08:00:00Z, or 30d or 12h ago; 30d unless said',
  },
  until: { value: 'WHEN', about: 'the instant before which calls began; now unless said' },
  timezone: { value: 'ZONE', about: 'of dates; this machine’s' },
} satisfies Record<string, Option>

const priorities = ['none', 'low', 'medium', 'high', 'urgent']
const states = ['open', 'acknowledged', 'resolved', 'ignored']

/** Whose calls a file can hold, beside conversations as the service itself takes them. */
export const callSources = [
  'vapi',
  'retell',
  'elevenlabs',
  'twilio',
  'livekit',
  'roark',
  'coval',
  'cekura',
  'bluejay',
  'pipecat',
] as const

export const commands: Record<string, Spec> = {
  serve: {
    about: 'serve requests and work through jobs',
    options: {
      'new-secret-key': {
        about: 'accept another secret key than before; secrets sealed with the former one stay closed',
      },
      'new-storage': { about: 'accept a storage without the files that this database has stored' },
      'print-credentials': printCredentials,
    },
    notes: 'Switches are set in the environment; docs/configuration.md lists them.',
    load: () => import('./serve.ts'),
  },
  demo: {
    about: 'serve, with an organization full of invented conversations',
    options: {
      calls: { value: 'NUMBER', about: 'how many conversations; 3,000 unless said' },
      seed: { value: 'NUMBER', about: 'the same conversations for the same number; 1 unless said' },
      'print-credentials': printCredentials,
    },
    notes: 'Run again, it keeps what is there and adds what is missing.',
    load: () => import('./demo.ts'),
  },
  migrate: {
    about: 'bring the database to the schema of this version, as serve does by itself',
    load: () => import('./migrate.ts'),
  },
  db: {
    about: 'spread the database over the nodes of a Citus cluster',
    actions: {
      distribute: {
        about: 'place each table by organization, on every node, or on the coordinator',
        options: {
          ...addNode,
          shards: {
            value: 'NUMBER',
            about: 'how many shards to divide the tables into when they are first placed; 32 by default',
          },
          'dry-run': { about: 'only print the statements' },
          check: { about: 'only tell what lies where, how evenly, and what is left to be placed' },
          json: { about: 'with --check, print JSON' },
          quiet,
        },
      },
      rebalance: {
        about: 'move shards so that every node holds as much as the others, and follow it',
        options: { ...addNode, ...blockWrites, quiet },
      },
      isolate: {
        about: 'give an organization (its slug or id) shards of its own, on the node with least on it',
        takes: { name: 'ORGANIZATION', count: 'one' },
        options: { node: { value: 'HOST:PORT', about: 'on this node' }, ...blockWrites, quiet },
      },
    },
    notes: `It works on DATABASE_URL, which names the coordinator, and may be run again: what is as it should be stays.
distribute --check ends with 0 if every table lies where it should, and with 1 otherwise.`,
    load: () => import('./db.ts'),
  },
  doctor: {
    about: 'check what the service needs, while it serves or not; with --url, a service elsewhere and the key',
    options: {
      ...service,
      url: { value: 'URL', about: 'the service elsewhere; without it this machine, whatever EARSHOT_URL says' },
    },
    notes: 'It ends with 0 if all is well and with 1 if something is not.',
    load: () => import('./doctor.ts'),
  },
  keys: {
    about: 'make, list and revoke keys; a key is shown once',
    actions: {
      service: {
        about: 'make a service key, which provisions organizations',
        options: { name: { value: 'NAME', about: 'what it is called' }, json },
      },
      owner: {
        about: 'make a key that acts for the owner of an organization',
        takes: { name: 'SLUG', count: 'one' },
        options: { name: { value: 'NAME', about: 'what it is called' }, json },
      },
      revoke: { about: 'revoke a service key', takes: { name: 'KEY-ID', count: 'one' }, options: { json } },
      list: { about: 'list the keys of an organization, at a service', options: service },
      create: {
        about: 'make a key of an organization, at a service',
        takes: { name: 'NAME', count: 'one' },
        options: {
          role: { value: 'ROLE', about: 'viewer unless said', choices: ['viewer', 'member', 'admin', 'owner'] },
          ...service,
        },
      },
    },
    notes: 'service, owner and revoke work on the database of this machine; list and create ask a service.',
    load: () => import('./keys.ts'),
  },
  link: {
    about: 'make a one-time link for the owner of an organization, or for another member',
    takes: { name: 'SLUG', count: 'one' },
    options: {
      email: { value: 'ADDRESS', about: 'of the other member' },
      'new-email': { value: 'ADDRESS', about: 'make a link that changes their e-mail address to this one instead' },
      json,
    },
    notes: `Whoever opens it within seven days chooses a password, which takes the place of a former one and ends all sessions,
and joins the organization, if they have not yet. The member's former link ends. With EARSHOT_SMTP_URL it is mailed, too.

With --new-email the link changes the e-mail address of a member who has joined, and nothing else. It is not mailed, and works
once, within seven days. Check first that the address is theirs.`,
    load: () => import('./link.ts'),
  },
  jobs: {
    about: 'list dead jobs and give them back',
    actions: {
      list: { about: 'list dead jobs, the latest first', options: { json } },
      retry: {
        about: 'give these back to their queues',
        takes: { name: 'JOB-ID', count: 'any' },
        options: { all: { about: 'all of them' }, json },
      },
    },
    load: () => import('./jobs.ts'),
  },
  backup: {
    about: 'copy the embedded database and its files into a new folder, while the service runs or not',
    takes: { name: 'FOLDER', count: 'one' },
    options: {
      'encrypt-to': { value: 'RECIPIENT', many: true, about: 'encrypt it to this age recipient, such as age1…' },
      'passphrase-file': { value: 'FILE', about: 'encrypt it with the passphrase in this file' },
      'with-secret-key': { about: 'include secret.key, which opens all stored secrets' },
      json,
    },
    notes: 'A restore needs the secret key: keep secret.key, or EARSHOT_SECRET_KEY, apart from the backups.',
    load: () => import('./backup/make.ts'),
  },
  restore: {
    about: 'restore a backup into a data directory, which must be empty but for secret.key',
    takes: { name: 'FOLDER', count: 'one' },
    options: {
      'identity-file': { value: 'FILE', about: 'the age identity that opens an encrypted backup' },
      'passphrase-file': { value: 'FILE', about: 'the passphrase that opens an encrypted backup' },
      json,
    },
    notes: 'An interrupted restore leaves a directory that nothing opens; the same command run again starts over.',
    load: () => import('./backup/restore.ts'),
  },
  conversations: {
    about: 'take conversations in from files',
    actions: {
      import: {
        about: 'of files (NDJSON or a JSON array, plain or .gz), folders of them, or - for standard input',
        takes: { name: 'FILE', count: 'some' },
        options: {
          from: { value: 'PROVIDER', about: 'what wrote the file, if not for Earshot', choices: callSources },
          agent: { value: 'ID', about: 'the external id of the agent of calls that name none' },
          resume: { value: 'FILE', about: 'where it is kept how far the import is; FILE.import-state unless said' },
          rejects: { value: 'FILE', about: 'where what was rejected is written, as NDJSON with the reasons' },
          quiet,
        },
      },
    },
    options: service,
    notes: `An import that was interrupted, however it ended, goes on where it was when it is called again, and stores nothing
twice: what has no external id gets one of its content. Exit codes: 0 all is in, 3 some was rejected, 130 interrupted.`,
    load: () => import('./conversations.ts'),
  },
  monitors: {
    about: 'list monitors, try them, and have them evaluate what is stored',
    actions: {
      list: { about: 'list monitors' },
      test: {
        about: 'try a monitor on stored conversations and store nothing',
        takes: { name: 'MONITOR', count: 'one' },
        options: {
          conversation: { value: 'ID', many: true, about: 'on this one; otherwise on the latest' },
          limit: { value: 'NUMBER', about: 'on how many; 20 unless said' },
        },
      },
      backfill: {
        about: 'evaluate what is stored, and follow it to its end',
        takes: { name: 'MONITOR', count: 'one' },
        options: { ...period, 'dry-run': { about: 'only estimate what it takes' }, quiet },
      },
    },
    options: service,
    notes: 'MONITOR is a name or an id.',
    load: () => import('./monitors.ts'),
  },
  export: {
    about: 'ask a service for the results of monitors, wait for the file, and download it',
    options: {
      ...service,
      monitor: { value: 'NAME', many: true, about: 'name or id, up to 20; all enabled ones unless said' },
      affected: { value: 'NAME', many: true, about: 'only calls that this monitor found affected' },
      'not-affected': { value: 'NAME', many: true, about: 'only calls that it found not affected' },
      match: { value: 'HOW', about: 'how these conditions are joined; all unless said', choices: ['all', 'any'] },
      ...period,
      versions: {
        value: 'WHICH',
        about: 'results of which versions of monitors count',
        choices: ['historical', 'current'],
      },
      company: { value: 'NAME', about: 'calls of this company alone; name or id' },
      agent: { value: 'NAME', about: 'calls of this agent alone' },
      group: { value: 'NAME', about: 'calls of this group of agents alone' },
      metadata: { value: 'CONDITION', many: true, about: "such as 'plan eq gold' or 'vip is_true'; up to 8" },
      reasoning: { about: 'adds the reasons of each result' },
      format: {
        value: 'FORMAT',
        about: 'from the ending of --output, or csv',
        choices: ['csv', 'xlsx', 'parquet'],
      },
      output: { value: 'FILE', about: 'where it goes, - for standard output; the name that the service gives it' },
      id: {
        value: 'EXPORT-ID',
        about: 'download an export that was asked for before, or go on with a broken download',
      },
      quiet,
    },
    notes: `--json prints the export in place of the file's name. Exit codes: 0 done, 1 no answer or not allowed, 2 called
wrongly, 3 the export failed, 4 the file arrived damaged, 130 interrupted.`,
    load: () => import('./export.ts'),
  },
  experiments: {
    about: 'list experiments, and show one with its results',
    actions: {
      list: { about: 'list experiments' },
      show: {
        about: 'arms, outcomes, differences with their intervals, verdicts',
        takes: { name: 'EXPERIMENT', count: 'one' },
      },
    },
    options: service,
    notes: 'EXPERIMENT is a name or an id.',
    load: () => import('./experiments.ts'),
  },
  findings: {
    about: 'list, show and triage findings',
    actions: {
      list: {
        about: 'list findings',
        options: {
          status: { value: 'STATUS', about: 'these alone', choices: states },
          priority: { value: 'PRIORITY', about: 'these alone', choices: priorities },
        },
      },
      show: { about: 'show one with its conversations', takes: { name: 'FINDING-ID', count: 'one' } },
      triage: {
        about: 'change its status or priority',
        takes: { name: 'FINDING-ID', count: 'one' },
        options: {
          status: { value: 'STATUS', about: 'the new one', choices: states },
          priority: { value: 'PRIORITY', about: 'the new one', choices: priorities },
          reason: { value: 'TEXT', about: 'why' },
        },
      },
    },
    options: service,
    load: () => import('./findings.ts'),
  },
  completion: {
    about: 'print what makes a shell complete these commands',
    actions: {
      bash: { about: 'for ~/.bashrc: source <(earshot completion bash)' },
      zsh: { about: 'for ~/.zshrc: source <(earshot completion zsh)' },
      fish: { about: 'for config.fish: earshot completion fish | source' },
    },
    load: async () => (await import('./completion.ts')).completionOf(commands),
  },
}
