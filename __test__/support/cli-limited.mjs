// Runs commands of the CLI as a LimitedProcess.

import { answer } from './answer.mjs'
import { runHere } from './cli-here.mjs'

answer(async ({ folder, args }) => {
  process.chdir(folder)
  const { status, stdout, stderr } = await runHere(args)
  return { status, stdout: stdout.toString(), stderr: stderr.toString() }
})
