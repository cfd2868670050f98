import type { CommandOption, Spec } from './call.ts'

/** Describes all commands. Help, shell completion, and argument parsing use this table. */

const json: CommandOption = { about: 'print JSON' }

/** The options of commands that call a service. */
const service = {
  url: { value: 'URL', about: 'URL of the service; by default EARSHOT_URL, or the service configured on this machine' },
  key: { value: 'KEY', about: 'API key; prefer EARSHOT_KEY, which process lists do not show' },
  json,
} satisfies Record<string, CommandOption>

const printCredentials: CommandOption = {
  about: 'on first start, print the sign-in link and API key even if the output is not a terminal',
}
const quiet: CommandOption = { about: 'hide progress' }
const addNode: Record<string, CommandOption> = {
  'add-node': {
    value: 'HOST:PORT',
    many: true,
    about: 'add this node to the cluster first, unless it is already part of it',
  },
}
const blockWrites: Record<string, CommandOption> = {
  'block-writes': { about: 'block writes to a shard while it moves; does not require wal_level = logical' },
}
const period = {
  since: {
    value: 'WHEN',
    about: 'start: a date, a time such as 2026-11-01T08:00:00Z, or 12h or 30d ago; default 30d',
  },
  until: { value: 'WHEN', about: 'end, exclusive; default now' },
  timezone: { value: 'ZONE', about: 'time zone of dates; default the time zone of this machine' },
} satisfies Record<string, CommandOption>

const priorities = ['none', 'low', 'medium', 'high', 'urgent']
const states = ['open', 'acknowledged', 'resolved', 'ignored']

/** The formats of call files, in addition to Earshot's own format. */
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
    about: 'start the service: serve requests and run jobs',
    options: {
      'new-secret-key': {
        about: 'accept a different secret key; secrets encrypted with the former one stay unreadable',
      },
      'new-storage': { about: 'accept storage that does not contain the files of this database' },
      'print-credentials': printCredentials,
    },
    notes: 'Configure it with environment variables; docs/configuration.md lists them.',
    load: () => import('./serve.ts'),
  },
  demo: {
    about: 'start the service with a demo organization and synthetic conversations',
    options: {
      calls: { value: 'NUMBER', about: 'number of conversations; default 3,000' },
      seed: { value: 'NUMBER', about: 'random seed; the same seed creates the same conversations; default 1' },
      'print-credentials': printCredentials,
    },
    notes: 'Running it again keeps existing data and adds what is missing.',
    load: () => import('./demo.ts'),
  },
  migrate: {
    about: 'migrate the database to this version; serve does this automatically',
    load: () => import('./migrate.ts'),
  },
  db: {
    about: 'distribute the database across a Citus cluster',
    actions: {
      distribute: {
        about: 'distribute tables by organization, or place them on every node or the coordinator',
        options: {
          ...addNode,
          shards: {
            value: 'NUMBER',
            about: 'number of shards when tables are first distributed; default 32',
          },
          'dry-run': { about: 'only print the SQL statements' },
          check: { about: 'only show where tables are, how balanced the nodes are, and what is not placed yet' },
          json: { about: 'with --check, print JSON' },
          quiet,
        },
      },
      rebalance: {
        about: 'move shards to balance the nodes, and show progress',
        options: { ...addNode, ...blockWrites, quiet },
      },
      isolate: {
        about: 'move an organization (slug or ID) to its own shards, by default on the emptiest node',
        takes: { name: 'ORGANIZATION', count: 'one' },
        options: { node: { value: 'HOST:PORT', about: 'target node' }, ...blockWrites, quiet },
      },
    },
    notes: `These commands use DATABASE_URL, which must point to the coordinator. You can run them again at any time.
distribute --check exits with 0 if all tables are placed correctly, and with 1 otherwise.`,
    load: () => import('./db.ts'),
  },
  doctor: {
    about: 'check what the service needs, running or not; with --url, check a remote service and the key',
    options: {
      ...service,
      url: {
        value: 'URL',
        about: 'URL of a remote service; by default this machine is checked, even if EARSHOT_URL is set',
      },
    },
    notes: 'Exits with 0 if all checks pass, and with 1 otherwise.',
    load: () => import('./doctor.ts'),
  },
  keys: {
    about: 'create, list, and revoke keys; a key is only shown once',
    actions: {
      service: {
        about: 'create a service key, which provisions organizations',
        options: { name: { value: 'NAME', about: 'name of the key' }, json },
      },
      owner: {
        about: 'create a key for the owner of an organization',
        takes: { name: 'SLUG', count: 'one' },
        options: { name: { value: 'NAME', about: 'name of the key' }, json },
      },
      revoke: { about: 'revoke a service key', takes: { name: 'KEY-ID', count: 'one' }, options: { json } },
      list: { about: 'list the keys of an organization', options: service },
      create: {
        about: 'create a key for an organization',
        takes: { name: 'NAME', count: 'one' },
        options: {
          role: { value: 'ROLE', about: 'default viewer', choices: ['viewer', 'member', 'admin', 'owner'] },
          ...service,
        },
      },
    },
    notes: 'service, owner, and revoke use the database of this machine; list and create call a service.',
    load: () => import('./keys.ts'),
  },
  link: {
    about: 'create a one-time sign-in link for the owner of an organization, or another member',
    takes: { name: 'SLUG', count: 'one' },
    options: {
      email: { value: 'ADDRESS', about: 'email address of the other member' },
      'new-email': { value: 'ADDRESS', about: 'create a link that changes their email address to this one instead' },
      json,
    },
    notes: `The link expires in seven days and replaces the member's earlier link. It lets the member choose a password, ends all their
sessions, and adds them to the organization if they have not joined yet. It is also sent by email if EARSHOT_SMTP_URL is set.

With --new-email, the link only changes the email address of a member who has joined. It expires in seven days and is not
sent by email. First verify that the address belongs to the member.`,
    load: () => import('./link.ts'),
  },
  jobs: {
    about: 'list and retry dead jobs',
    actions: {
      list: { about: 'list dead jobs, newest first', options: { json } },
      retry: {
        about: 'queue these jobs again',
        takes: { name: 'JOB-ID', count: 'any' },
        options: { all: { about: 'retry all dead jobs' }, json },
      },
    },
    load: () => import('./jobs.ts'),
  },
  backup: {
    about: 'back up the embedded database and its files to a new folder; the service can be running',
    takes: { name: 'FOLDER', count: 'one' },
    options: {
      'encrypt-to': { value: 'RECIPIENT', many: true, about: 'encrypt for this age recipient, such as age1…' },
      'passphrase-file': { value: 'FILE', about: 'encrypt with the passphrase in this file' },
      'with-secret-key': { about: 'include secret.key, which decrypts all stored secrets' },
      json,
    },
    notes: 'A restore needs the secret key. Keep secret.key or EARSHOT_SECRET_KEY separate from the backups.',
    load: () => import('./backup/make-backup.ts'),
  },
  restore: {
    about: 'restore a backup to the data directory, which must be empty except for secret.key',
    takes: { name: 'FOLDER', count: 'one' },
    options: {
      'identity-file': { value: 'FILE', about: 'file with the age identity that decrypts the backup' },
      'passphrase-file': { value: 'FILE', about: 'file with the passphrase that decrypts the backup' },
      json,
    },
    notes: 'If a restore is interrupted, the service refuses the directory. Run the same command again to start over.',
    load: () => import('./backup/restore.ts'),
  },
  conversations: {
    about: 'import conversations from files',
    actions: {
      import: {
        about: 'import files (NDJSON or a JSON array, plain or .gz), folders, or standard input (-)',
        takes: { name: 'FILE', count: 'some' },
        options: {
          from: { value: 'PROVIDER', about: 'format of the files, if not Earshot’s own', choices: callSources },
          agent: { value: 'ID', about: 'external ID of the agent for calls without one' },
          resume: { value: 'FILE', about: 'file for the progress of the import; default FILE.import-state' },
          rejects: { value: 'FILE', about: 'file for rejected conversations and the reasons, as NDJSON' },
          quiet,
        },
      },
    },
    options: service,
    notes: `Run an interrupted import again to resume it. Nothing is stored twice: a conversation without an external ID gets one
derived from its content. Exit codes: 0 all imported, 3 some rejected, 130 interrupted.`,
    load: () => import('./conversations.ts'),
  },
  monitors: {
    about: 'list, install, test, and backfill monitors',
    actions: {
      list: { about: 'list monitors' },
      templates: { about: 'list the templates that can be installed' },
      install: {
        about: 'create a monitor from a template',
        takes: { name: 'TEMPLATE', count: 'some' },
        options: { 'any-language': { about: 'create a judge for any language instead of a rule with English words' } },
      },
      test: {
        about: 'run a monitor on stored conversations without storing results',
        takes: { name: 'MONITOR', count: 'one' },
        options: {
          conversation: { value: 'ID', many: true, about: 'run on this conversation; default the latest ones' },
          limit: { value: 'NUMBER', about: 'number of conversations; default 20' },
        },
      },
      backfill: {
        about: 'evaluate stored conversations, and show progress',
        takes: { name: 'MONITOR', count: 'one' },
        options: {
          ...period,
          batch: { about: 'send a judge’s requests as batches, which cost less and take up to 24 hours' },
          'dry-run': { about: 'only estimate the number of conversations and the cost' },
          quiet,
        },
      },
    },
    options: service,
    notes: 'MONITOR is a name or an ID. TEMPLATE is a key such as asks-for-a-person.',
    load: () => import('./monitors.ts'),
  },
  export: {
    about: 'create an export of monitor results or of a saved view, wait for it, and download the file',
    options: {
      ...service,
      view: { value: 'NAME', about: 'export the conversations of this saved view, with its columns; name or ID' },
      monitor: { value: 'NAME', many: true, about: 'name or ID, up to 20; default all enabled monitors' },
      affected: { value: 'NAME', many: true, about: 'only calls with the result affected' },
      'not-affected': { value: 'NAME', many: true, about: 'only calls with the result not affected' },
      match: {
        value: 'HOW',
        about: 'whether all or any of these conditions must match; default all',
        choices: ['all', 'any'],
      },
      ...period,
      versions: {
        value: 'WHICH',
        about: 'include results of historical monitor versions or only current ones; default historical',
        choices: ['historical', 'current'],
      },
      company: { value: 'NAME', about: 'only calls of this company; name or ID' },
      agent: { value: 'NAME', about: 'only calls of this agent' },
      group: { value: 'NAME', about: 'only calls of this agent group' },
      metadata: {
        value: 'CONDITION',
        many: true,
        about: "metadata filter such as 'plan eq gold' or 'vip is_true'; up to 8",
      },
      reasoning: { about: 'include the reasoning of each result' },
      format: {
        value: 'FORMAT',
        about: 'default from the extension of --output, or csv',
        choices: ['csv', 'xlsx', 'parquet', 'jsonl'],
      },
      output: { value: 'FILE', about: 'output file, or - for standard output; default the file name from the service' },
      id: {
        value: 'EXPORT-ID',
        about: 'download an existing export, or resume an interrupted download',
      },
      quiet,
    },
    notes: `With --view, only --since, --until, and the options that follow --reasoning apply. --json prints the export instead of the file name. Exit codes: 0 success, 1 service unreachable or request rejected,
2 invalid usage, 3 export failed, 4 downloaded file damaged, 130 interrupted.`,
    load: () => import('./export.ts'),
  },
  experiments: {
    about: 'list experiments, and show their results',
    actions: {
      list: { about: 'list experiments' },
      show: {
        about: 'show arms, outcomes, differences with intervals, and verdicts',
        takes: { name: 'EXPERIMENT', count: 'one' },
      },
    },
    options: service,
    notes: 'EXPERIMENT is a name or an ID.',
    load: () => import('./experiments.ts'),
  },
  findings: {
    about: 'list, show, and triage findings',
    actions: {
      list: {
        about: 'list findings',
        options: {
          status: { value: 'STATUS', about: 'only this status', choices: states },
          priority: { value: 'PRIORITY', about: 'only this priority', choices: priorities },
        },
      },
      show: { about: 'show a finding with its conversations', takes: { name: 'FINDING-ID', count: 'one' } },
      triage: {
        about: 'change the status or priority of a finding',
        takes: { name: 'FINDING-ID', count: 'one' },
        options: {
          status: { value: 'STATUS', about: 'new status', choices: states },
          priority: { value: 'PRIORITY', about: 'new priority', choices: priorities },
          reason: { value: 'TEXT', about: 'reason for the change' },
        },
      },
    },
    options: service,
    load: () => import('./findings.ts'),
  },
  completion: {
    about: 'print a shell completion script',
    actions: {
      bash: { about: 'for ~/.bashrc: source <(earshot completion bash)' },
      zsh: { about: 'for ~/.zshrc: source <(earshot completion zsh)' },
      fish: { about: 'for config.fish: earshot completion fish | source' },
    },
    load: async () => (await import('./completion.ts')).completionOf(commands),
  },
}
