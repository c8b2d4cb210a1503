import type { Pair } from '../../../nouns/from-service.ts'

/** Faults in the page that a module declares. */
export const modulePageSentences: readonly Pair[] = [
  ['son genre (kind) est inconnu', 'its kind is unknown'],
  ['une page est déjà déclarée', 'a page is already declared'],
  ['un texte, ou {fr, en}, de {} caractères au plus', 'a string, or {fr, en}, of at most {} characters'],
  ['contient un caractère de contrôle', 'contains a control character'],
  ['est vide', 'is empty'],
  ['est trop long', 'is too long'],
  ['a plus de {} éléments', 'has more than {} entries'],
  ['une fonction du module, comme « {} /api/modules/… »', 'a function of the module, such as “{} /api/modules/…”'],
  ['doit être « {} » et une adresse', 'must be “{}” and an address'],
  ['le nom d’un champ', 'the name of a field'],
  ['doit être le nom d’un champ, ou un chemin comme « a.b »', 'must be the name of a field, or a path such as “a.b”'],
  ['un nombre de secondes', 'a number of seconds'],
  ['{} s au moins', 'at least {} s'],
  ['{} s au plus', 'at most {} s'],
  ['le chemin de la liste dans la réponse', 'the path of the list in the answer'],
  ['doit être {}', 'must be {}'],
  ['est invalide (attendu : un objet)', 'is invalid (expected: an object)'],
  [
    '« {} » nomme une fonction que le module ne déclare pas : {}',
    '“{}” names a function that the module does not declare: {}',
  ],
  [
    '« {} » nomme une fonction dont la requête exige des paramètres : {}',
    '“{}” names a function whose request needs a query: {}',
  ],
  ['« {} » ne peut pas avoir de paramètre dans l’adresse : {}', '“{}” cannot have a parameter in its address: {}'],
  [
    '« from » nomme une fonction qui ne répond pas en JSON : {}',
    '“from” names a function that does not answer in JSON: {}',
  ],
  ['« {} » nomme « {} », qui n’est pas dans la réponse', '“{}” names “{}”, which is not in the answer'],
  ['« call » exige dans son corps {} : un formulaire le peut', '“call” needs {} in its body: a form can send it'],
  ['« call » nomme une fonction sans corps : {}', '“call” names a function without a body: {}'],
  ['« rows » ne mène pas à une liste : « {} »', '“rows” does not lead to a list: “{}”'],
  ['« rows » manque : la réponse n’est pas une liste', '“rows” is missing: the answer is not a list'],
  [
    '« call » nomme une fonction dont le corps n’est pas un z.object lisible',
    '“call” names a function whose body is not a readable z.object',
  ],
  ['« call » a plus de {} champs : nommez-en dans « fields »', '“call” has more than {} fields: name some in “fields”'],
  ['« fields » nomme deux fois un champ', '“fields” names a field twice'],
  ['« fields » omet {}, que le corps exige', '“fields” omits {}, which the body requires'],
  ['« fields » nomme « {} », qui n’est pas dans le corps', '“fields” names “{}”, which is not in the body'],
  [
    '« fields » : le champ « {} » n’est ni texte, ni nombre, ni oui/non, ni choix',
    '“fields”: the field “{}” is neither a text, a number, a yes/no nor a choice',
  ],
  ['« fields » : le champ « {} » a plus de {} choix', '“fields”: the field “{}” has more than {} choices'],
  ['« fields » : le champ « {} » ne peut pas être {}', '“fields”: the field “{}” cannot be {}'],
]
