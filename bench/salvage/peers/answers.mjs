// What `jsonrepair` and typia read from each text, for the shares of correct answers.
//
// usage: node answers.mjs FOLDER PEER INPUT
//   FOLDER  the folder in which the packages are installed
//   PEER    `jsonrepair`  JSON.parse(jsonrepair(text))
//           `typia`       LlmJson.parse(text); an answer counts only if it is a success
//   INPUT   one JSON object per line: `text`
//
// Prints the version, then one line per text: `{"value": ...}` or `{"error": ...}`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, peer, input] = process.argv.slice(2)
const home = join(folder, 'node_modules', peer === 'typia' ? '@typia/utils' : 'jsonrepair')
const { version, module } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
const library = await import(pathToFileURL(join(home, module)))

function read(text) {
  if (peer !== 'typia') return JSON.parse(library.jsonrepair(text))
  const result = library.LlmJson.parse(text)
  if (!result.success) throw new Error('typia reports errors')
  return result.data
}

console.log(peer, version)
for (const line of readFileSync(input, 'utf8').trimEnd().split('\n')) {
  let answer
  try {
    answer = { value: read(JSON.parse(line).text) ?? null }
  } catch (error) {
    answer = { error: String(error).slice(0, 200) }
  }
  console.log(JSON.stringify(answer))
}
