// Lists phrases that read like a translation, each as a regular expression with its replacement. In a replacement, $1
// is the match of the first group. A phrase must always be wrong, because the check has no exceptions.

const nouns = 'account|agent|API key|bucket|company|connection|export|finding|group|key|monitor|schedule|version|view'

export const terms: [pattern: string, replacement: string][] = [
  ['alone', 'only'],
  ['any more([.,;:!?)’”]| and| or)', 'any longer$1'],
  ['anew', 'again'],
  ['beside', 'next to'],
  ['by the clocks of', 'in the time zone of'],
  ['dearer', 'more expensive'],
  ['dearest', 'most expensive'],
  ['e-mail(s?)', 'email$1'],
  ['(?:is|are|was|were|be|been) asked of', 'runs on'],
  ['(?:is|are|was|were|be|been) told(?! to)(?: of)?', 'is notified, receives, or sees'],
  ['leads? nowhere', 'does not exist'],
  [`make (an?|the) (new )?(${nouns})`, 'create $1 $2$3'],
  ['of late', 'recently'],
  ['parted by', 'separated by'],
  ['per cent', 'percent'],
  ['present (one|key|password|role|secret|value|version)', 'current $1'],
  ['so many in a hundred', 'percentage'],
  ['switch(?:es|ed|ing)? (?:it |them )?off', 'disable'],
  ['switch(?:es|ed|ing)? (?:it |them )?on', 'enable'],
  ['tells? (?:of|whether|whom)', 'shows or returns'],
  ['to be had', 'available'],
  ['unless said(?: otherwise)?', 'unless configured otherwise'],
  ['what became of', 'the result of'],
  ['what (?:the |an? )?(?:\\w+ )?(?:found|lost|told)', 'a noun, such as the result'],
  ['where there (?:is|are) (none|no)', 'if there is $1'],
  ['whoever', 'anyone who'],
  ['(\\d) %', '$1%'],
]
