// The peer `jsonrepair` from npm. `src/peer.rs` documents the protocol on the pipes.
//
// usage: node jsonrepair.mjs FOLDER MODE INPUT
//   FOLDER  the folder in which the package is installed
//   MODE    `repair` returns the repaired text, `value` also parses it

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [folder, mode, input] = process.argv.slice(2)
const home = join(folder, 'node_modules', 'jsonrepair')
const { version, module } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
const { jsonrepair } = await import(pathToFileURL(join(home, module)))
const work = mode === 'value' ? (text) => JSON.parse(jsonrepair(text)) : jsonrepair
const texts = readFileSync(input, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line).text)

// A result, so that the calls are not optimized away.
let answers

function round() {
  answers = 0
  const start = process.hrtime.bigint()
  for (const text of texts) {
    try {
      work(text)
      answers++
    } catch {
      // The time of a text that cannot be repaired counts too.
    }
  }
  return Number(process.hrtime.bigint() - start) / 1e9
}

round()
console.log(`${version}, node ${process.versions.node}\t${answers}`)
for await (const line of createInterface({ input: process.stdin })) {
  const start = performance.now()
  let best = round()
  while (performance.now() - start < Number(line)) best = Math.min(best, round())
  console.log(best)
}
