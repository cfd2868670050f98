/** Returns this process's environment without the options that must not apply to the services it starts. */
export const inheritedEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(EARSHOT_|OTEL_|NODE_COMPILE_CACHE$|DATABASE_URL$|PORT$|HOST$)/.test(name),
    ),
  )
