/** This process's options do not apply to the services that it starts. */
export const inheritedEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(EARSHOT_|OTEL_|NODE_COMPILE_CACHE$|DATABASE_URL$|PORT$|HOST$)/.test(name),
    ),
  )
