// Scripts that complete commands, options and their choices in shells.

import { UsageError } from '../failure.mjs'

const SHELLS = ['bash', 'zsh', 'fish']

/**
 * The command that prints the scripts.
 *
 * @param {() => Promise<Record<string, any>>} load returns all commands by name
 */
export const completionOf = (load) => ({
  summary: 'Print a script that completes commands and options in a shell.',
  usage: ['bash | zsh | fish'],
  about: [
    'Load the script where your shell starts: in ~/.bashrc "source <(tokenlane completion bash)", in ~/.zshrc "source <(tokenlane completion zsh)" after compinit; or write it to ~/.config/fish/completions/tokenlane.fish.',
  ],
  options: {},
  examples: [
    ['source <(tokenlane completion bash)', 'complete in this bash'],
    ['tokenlane completion fish > ~/.config/fish/completions/tokenlane.fish', 'complete in fish'],
  ],

  async run({ positionals: [shell, ...more] }) {
    if (!SHELLS.includes(shell) || more.length > 0) throw new UsageError(`name one shell: ${SHELLS.join(', ')}`)
    const commands = await load()
    process.stdout.write(shell === 'fish' ? fish(commands) : shell === 'zsh' ? zsh(commands) : bash(commands))
  },
})

const words = (names) => names.join(' ')

/** The options of a command, each as `[name, option]`, with those that all have. */
const optionsOf = ({ options }) => Object.entries({ ...options, help: { help: 'show the help' } })

/**
 * The lines of a `case` over a command and the word before the cursor. Commands whose option has
 * the same values share a line. Beside `names`, an option takes files.
 */
function choiceCases(commands) {
  /** @type {Map<string, string[]>} */
  const patterns = new Map()
  for (const [name, command] of Object.entries(commands)) {
    for (const [option, { short, choices, names }] of optionsOf(command)) {
      if ((choices ?? names) === undefined) continue
      const files = names === undefined ? '' : ' $(compgen -f -- "$word")'
      const reply = `COMPREPLY=($(compgen -W '${words(choices ?? names())}' -- "$word")${files})`
      const forms = [`${name}:--${option}`, ...(short === undefined ? [] : [`${name}:-${short}`])]
      patterns.set(reply, [...(patterns.get(reply) ?? []), ...forms])
    }
  }
  return Array.from(patterns, ([reply, forms]) => `    ${forms.join('|')}) ${reply}; return ;;`)
}

function bash(commands) {
  const cases = Object.entries(commands).map(
    ([name, command]) => `    ${name}) options='${words(optionsOf(command).map(([option]) => `--${option}`))}' ;;`,
  )
  return `# Completion of tokenlane for bash: source <(tokenlane completion bash)
_tokenlane() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" options=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${words(Object.keys(commands))}' -- "$word"))
    return
  fi
  case "$command:$before" in
${choiceCases(commands).join('\n')}
  esac
  case "$command" in
${cases.join('\n')}
  esac
  case "$word" in -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;; esac
}
complete -o default -F _tokenlane tokenlane
`
}

const zsh = (commands) => `# Completion of tokenlane for zsh, after compinit: source <(tokenlane completion zsh)
autoload -Uz bashcompinit && bashcompinit
${bash(commands).split('\n').slice(1).join('\n')}`

const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fish(commands) {
  const lines = ['# Completion of tokenlane for fish: ~/.config/fish/completions/tokenlane.fish']
  for (const [name, command] of Object.entries(commands)) {
    lines.push(`complete -c tokenlane -n __fish_use_subcommand -f -a ${name} -d ${quoted(command.summary)}`)
    for (const [option, { short, value: given, choices, names, help }] of optionsOf(command)) {
      const listed = names === undefined ? '' : ` -a ${quoted(words(names()))}`
      const value = choices ? ` -x -a ${quoted(words(choices))}` : given ? ` -r${listed}` : ''
      const shortened = short === undefined ? '' : ` -s ${short}`
      const what = String(help ?? '')
        .split(/[.;(]/)[0]
        .trim()
      lines.push(
        `complete -c tokenlane -n '__fish_seen_subcommand_from ${name}' -l ${option}${shortened}${value} -d ${quoted(what)}`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}
