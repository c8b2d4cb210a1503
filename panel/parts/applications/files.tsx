import { useSignal } from '@preact/signals'
import { ChevronRight } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useId, useMemo } from 'preact/hooks'
import { changesSince, imagesIn, type Source, type SourceFile, shortDigest } from '../../nouns/application.ts'
import { codeLines, comparedLines, unseenIn } from '../../nouns/code-lines.ts'
import { bytes } from '../../nouns/format.ts'
import { language, words } from '../../words/words.ts'
import { Icon } from '../icon.tsx'
import { Status } from '../status.tsx'
import { Code } from './code.tsx'
import { applicationWords } from './words.ts'

interface Before {
  source: Source
  /** Whether somebody has agreed to it. */
  isAgreed: boolean
}

/** The differences from the texts before, file by file. */
export function Differences({ before, now }: { before: Before; now: Source }) {
  const say = applicationWords().sheet
  const { of, gone } = changesSince(before.source, now)
  const changed = now.files.filter(({ address }) => of(address) === 'changed')
  const added = now.files.filter(({ address }) => of(address) === 'new')
  const textOf = (address: string) => before.source.files.find((file) => file.address === address)?.text ?? ''
  return (
    <section class="part" aria-labelledby="application-differences">
      <h3 id="application-differences">{say.differences}</h3>
      <p class="small dim">{before.isAgreed ? say.sinceAgreed : say.differencesWhy}</p>
      <ul class="files">
        {changed.map((file, at) => (
          <Disclosed key={file.address} title={file.address} isOpen={at === 0} tags={<Changed of="changed" />}>
            <Difference before={textOf(file.address)} file={file} />
          </Disclosed>
        ))}
        {added.map(({ address }) => (
          <li key={address}>
            <span class="grow mono anywhere">{address}</span> <Changed of="new" />
          </li>
        ))}
        {gone.map((address) => (
          <li key={address}>
            <span class="grow mono anywhere">{address}</span> <span class="tag">{say.gone}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Changed({ of }: { of: 'changed' | 'new' }) {
  return <span class="tag warn">{applicationWords().sheet.fileChanges[of]}</span>
}

function Difference({ before, file: { address, text } }: { before: string; file: SourceFile }) {
  const lines = useMemo(() => comparedLines(before, text), [before, text])
  return <Code label={applicationWords().sheet.showChange(address)} lines={lines} />
}

interface FilesProps {
  source: Source
  before: Source | undefined
  /** Whether the first one is shown from the beginning. */
  isOpen: boolean
  title: string
  isStack: boolean
}

/** Every file with its text, that of the first one open. */
export function Files({ source, before, isOpen, title, isStack }: FilesProps) {
  const say = applicationWords().sheet
  const changeOf = before && changesSince(before, source).of
  return (
    <section class="part" aria-labelledby="application-files">
      <h3 id="application-files">
        {title} <span class="dim num">{source.files.length > 1 && source.files.length}</span>
      </h3>
      <ul class="files">
        {source.files.map((file, at) => {
          const change = changeOf?.(file.address) ?? 'same'
          return (
            <Disclosed
              key={file.address}
              title={isStack ? say.whole : file.address}
              isOpen={isOpen && at === 0}
              tags={
                <>
                  {at === 0 && !isStack && <span class="tag">{say.first}</span>}
                  {change !== 'same' && <Changed of={change} />}
                  {!isStack && (
                    <span class="dim small num nowrap">{bytes(file.size, words().shell.units.bytes, language())}</span>
                  )}
                </>
              }
            >
              <Text file={file} />
            </Disclosed>
          )
        })}
      </ul>
    </section>
  )
}

function Text({ file: { address, text } }: { file: SourceFile }) {
  const say = applicationWords().sheet
  const lines = useMemo(() => codeLines(text), [text])
  const unseen = useMemo(() => unseenIn(text), [text])
  return (
    <>
      {unseen > 0 && (
        <p class="strange-note">
          <Status is="warn" hidden />
          <span>{say.unseen(unseen)}</span>
        </p>
      )}
      <Code label={say.showFile(address)} lines={lines} text={text} />
    </>
  )
}

interface DisclosedProps {
  title: string
  tags: ComponentChildren
  isOpen: boolean
  children: ComponentChildren
}

function Disclosed({ title, tags, isOpen, children }: DisclosedProps) {
  const id = useId()
  const shown = useSignal(isOpen)
  return (
    <li>
      <button
        type="button"
        class="disclosed"
        aria-expanded={shown.value}
        aria-controls={id}
        onClick={() => (shown.value = !shown.value)}
      >
        <Icon of={ChevronRight} />
        <span class="mono anywhere">{title}</span>
      </button>
      <span class="tags">{tags}</span>
      {shown.value && (
        <div class="text" id={id}>
          {children}
        </div>
      )}
    </li>
  )
}

/** The images of a stack in words: what each service has now, and what it gets. */
export function Images({ text }: { text: string }) {
  const say = applicationWords().sheet
  const images = useMemo(() => imagesIn(text), [text])
  if (!images) return null
  return (
    <section class="part difference" aria-labelledby="application-images">
      <h3 id="application-images">{say.images}</h3>
      <table aria-labelledby="application-images">
        <thead>
          <tr>
            <th scope="col">{say.service}</th>
            <th scope="col">{say.image}</th>
            <th scope="col">{say.now}</th>
            <th scope="col">{say.next}</th>
          </tr>
        </thead>
        <tbody>
          {images.map(({ service, image, from, to, isKnown }) => (
            <tr key={service}>
              <th scope="row">{service}</th>
              <td data-label={say.image}>{image}</td>
              <td data-label={say.now} class="mono" title={from}>
                {shortDigest(from)}
              </td>
              <td data-label={say.next} title={to}>
                {from === to ? (
                  <span class="dim">{isKnown ? say.stays : say.unasked}</span>
                ) : (
                  <b class="mono">{shortDigest(to)}</b>
                )}
                {from !== to && !isKnown && <span class="dim"> ({say.unasked})</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
