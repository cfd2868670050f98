export const integrationTasks = []
