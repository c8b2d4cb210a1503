import { expect, test } from 'vitest'
import { problemSentence } from '../../../functions/applications/look-problems.ts'

test.each<[string | null, string, string]>([
  ['web', 'Docker Compose 2 is missing', 'web : Docker Compose 2 manque.'],
  ['web', 'nginx:1: the registry was not asked', 'web : le registre n’a pas été interrogé pour nginx:1.'],
  ['web', '/opt/a b.yml is not there', 'web : le fichier /opt/a b.yml n’est pas là.'],
  ['web', 'the image x{}y is not there any more', 'web : l’image x{}y n’est plus là.'],
  [null, 'the Docker engine does not run', 'compose : le moteur Docker ne tourne pas.'],
  [null, 'no such host', 'compose : no such host'],
  ['web', 'yaml: $& is not there', 'web : yaml: $& is not there'],
])('the problem of %j, %j, is the sentence %j', (name, message, sentence) => {
  expect(problemSentence({ kind: 'compose', name, message })).toBe(sentence)
})
