/** Whether this is the executable, Node with the service inside. Without `getBuiltinModule` (Node 20.11) it is none. */
export function isExecutable(): boolean {
  return process.getBuiltinModule?.('node:sea')?.isSea() ?? false
}

/** The words that start this program once more; what is typed follows them. */
export function ownProgram(): string[] {
  // It has its options for Node inside, and would take them for something that was typed.
  if (isExecutable()) return [process.execPath]
  const [, script = ''] = process.argv
  return [process.execPath, ...process.execArgv, script]
}
