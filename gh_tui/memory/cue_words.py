"""The words that a summary looks for, in English and Indonesian, all in lower case.

Lists only: how they are matched is in `gh_tui.memory.cues`.
"""

from __future__ import annotations

from typing import Final


def _words(*lists: str) -> frozenset[str]:
    return frozenset(word for words in lists for word in words.split())


FAILURES: Final = _words(
    """
    abort aborted aborting aborts backfired blocked blocker botched bricked broke broken bug
    buggy bugs can't cannot cant choked chokes collapsed collapses conflict conflicting
    conflicts corrupt corrupted corruption corrupts couldn't couldnt crash crashed crashes
    crashing dead deadlock deadlocked deadlocks defect defects denied denies died dies
    disappeared disappears disconnected disconnects diverged errno erroneous error errored
    errors exceeded exceeds exception exceptions exhausted expired expires exploded fail failed
    failing fails failure failures fatal fault faults faulty flaky freezes froze hang hangs
    hung incompatible incomplete inconsistent incorrect incorrectly interrupted invalid jammed
    jams killed kills leak leaked leaks livelock lost malformed misbehaves misconfigured
    mismatch mismatched mismatches missing nonzero oom outage outages overflow overflowed
    overflows panic panicked panics refused refuses regressed regression regressions rejected
    rejects revoked ruined segfault segfaulted segfaults sigabrt sigkill sigsegv spoiled spoilt
    stall stalled stalls stuck terminated throttled timeout timeouts traceback unable
    unauthorised unauthorized unavailable uncaught undefined unexpected unfinished unhandled
    unreachable unresolved unresponsive unstable unsuccessful unsuccessfully unsupported
    unusable vanished vanishes violated violates violation wiped wrong wrongly
    """,
    """
    ambruk anjlok batal bentrok berantakan bermasalah bocor cacat dibatalkan diblokir dicabut
    diputus ditolak eror gagal galat hilang jebol kacau kadaluarsa kadaluwarsa kandas kebocoran
    kedaluwarsa kegagalan kehabisan kekeliruan keliru kerusakan kesalahan ketinggalan korup
    kosong lelet lenyap lumpuh macet mati melebihi meledak mogok musnah ngadat nihil nyangkut
    padam pecah putus raib roboh rusak salah terbakar terblokir terhenti terkunci terlewat
    terputus tersendat tertinggal tertolak tertunda tumbang
    """,
)

NEGATIONS: Final = _words(
    """
    ain't aint arent avoid avoided avoids ban banned bans barely beware didnt disallow
    disallowed disallowing disallows doesnt dont except excepting excluding forbid forbidden
    forbids hadnt hardly hasnt havent isnt lest mustnt neednt neither never no nobody none nor
    not nothing nowhere prohibit prohibited prohibition prohibits rarely refuse
    scarcely seldom shouldnt stop unless wasnt werent without wont wouldnt
    """,
    """
    belum blm bukan dilarang emoh engga enggak enggan gak jangan janganlah jgn kagak kecuali
    larangan melarang menolak mustahil ndak ngga nggak ogah pantang tak tanpa tanpanya tdk
    terlarang tiada tidak
    """,
)

OBLIGATIONS: Final = _words(
    """
    add agreed allowed always change compulsory crucial decide decided ensure ensures essential
    fix important instead keep kindly let's mandatory must need needed needs obligatory only
    ought permitted please prefer preferred remember remove require required requires run shall
    should use vital write
    """,
    """
    boleh buat diharap diharapkan diminta dimohon diputuskan disepakati diwajibkan ganti
    gunakan hanya hapus harap harus haruslah hendaklah hendaknya ingat kudu mesti mohon pakai
    pastikan perbaiki perlu perlunya sebaiknya seharusnya selalu silahkan silakan tambahkan
    tolong ubah wajib
    """,
)
"""Words that ask or settle something wherever they stand."""

NUMBERS: Final = _words(
    """
    billion dozen dozens eighteen eighty eleven fifteen fifty forty fourteen hundred hundreds
    million millions nineteen ninety percent seventeen seventy sixteen sixty ten thirteen
    thirty thousand thousands twelve twenty
    """,
    "sepuluh sebelas belas puluh seratus ratus ratusan seribu ribu ribuan juta miliar persen lusin",
)

COMMANDS: Final = _words(
    """
    abort accept add adjust align allow amend announce answer append apply approve archive
    arrange ask assign assume attach backport backup be begin block bring build bump cache
    calculate call cancel check choose clarify cleanup clear clone close collect combine commit
    compare compile compress compute configure confirm connect consider consolidate contact
    continue convert copy correct create debug decrypt deduplicate define delete deny deploy
    describe disable discard disconnect discuss display document downgrade
    download drop dump duplicate edit eliminate email embed enable encrypt enforce enlarge
    ensure escalate estimate evaluate examine exclude execute expand explain export expose
    extend extract fetch fill find finish fix flag flush follow forget format generate get give
    go grant guess handle help hide highlight hold identify ignore implement import improve
    include increase indent inform inline insert inspect install integrate introduce invert
    investigate invite isolate join keep launch leave limit link lint list listen load locate
    log look make map mark measure merge migrate minimise minimize mirror mock modify monitor
    move mute name normalise normalize note notify obey omit open optimise optimize organise
    organize overwrite pack parse paste patch pause perform pick pin ping postpone prefer
    prepare preserve press prevent print prioritise prioritize proceed produce protect provide
    publish pull purge push put quit quote raise rebase reboot rebuild recall recheck recompile
    reconnect record recreate redeploy redirect redo reduce refactor refresh refuse register
    reinstall reject rely remember remind remove rename render reopen reorder repeat rephrase
    replace reply report reproduce request rerun rescan reschedule reset resolve respect
    respond restart restore restrict resume retain retest retry return reuse revert review
    revise revoke rewrite roll rotate round run save scale scan schedule search see select send
    separate set shorten show shut sign simplify simulate skip sort specify split squash start
    stay stick stop store strip submit subscribe substitute summarise summarize suspend swap
    switch sync synchronise synchronize tag take tell terminate test throw tidy track transfer
    transform translate treat trim truncate try turn uncomment undo uninstall unlock unmount
    unpack unpin unsubscribe untick unwrap unzip update upgrade upload use validate verify view
    wait warn wipe withdraw wrap write zip
    """
)
"""English verbs that ask for something where a sentence begins with them."""

NOUNS_TOO: Final = _words(
    """
    archive backup block build cache call change check clear close complete copy correct
    document drop dump email empty export flag format help hold import join leave limit link
    list load log look map mark measure mirror monitor name note open order pack paste patch
    pause pin press print project quote record release report request reset return review roll
    round scale scan schedule search separate set show sign sort split start stay stick store
    strip switch tag test track transfer trust turn update upgrade use view wait work wrap
    """
)
"""Those of them that are as often a noun or an adjective: an object has to follow."""

OBJECTS: Final = _words(
    """
    a all an any back both down each every everything her him it its just me my nothing off
    only our out over that the their them these this those up us your
    """
)
ARTICLES: Final = _words("the a an any your our my its their it them")
"""After a first word of any kind these make it a verb, unless it is one of `NO_VERBS`."""

PARTICLES: Final = _words("up down off out over back again")

NO_VERBS: Final = _words(
    """
    about above across after afterward afterwards again against ah all almost along alongside
    also although always am amid among and any april are around as at ate atop august be
    because been before began behind being below beneath beside besides between beyond both
    bought broke brought built but by came can chose concerning could december despite did do
    does down drank drove during each eight even except february fell felt finally first five
    flew for forgot found four from gave given got grew had half has have he heard held hello
    hence here hey hi how however i if in inside instead into is it january july june just kept
    knew last later led left lent like lost made many march may maybe meanwhile met might more
    most much must near nearby never next nine no not november now october of off often oh ok
    okay on once one only onto opposite or otherwise ought out outside over paid past per
    perhaps plus provided quite ran rather rode rose said sang sat saw second seldom sent
    september seven shall she should since six so sold some sometimes soon spent spoke still
    stood such swam taught ten than thanks that then there therefore these they third this
    those though thought three threw through throughout thus till to today told tomorrow
    tonight took toward towards two under underneath understood unless unlike until up upon
    versus via was we well went were what whatever when whenever where whereas wherever whether
    which while who whoever whom whose why will with within without woke won wore worth would
    wrote yes yesterday yet you
    """
)

LEADS: Final = _words(
    """
    afterwards again also and berikutnya but cepat dan finally first harap hence instead juga
    just kedua kemudian ketiga kindly lalu langsung lastly mohon next now ok okay pertama
    please second segera selanjutnya setelahnya so terakhir terus then third tolong
    """
)
"""Words that may stand before a command."""

INDONESIAN_COMMANDS: Final = _words(
    """
    amati ambil angkat atur awasi ayo baca balas balik balikin bandingkan bangun bantu batasi
    bawa bayar beli benerin berhenti beri bikin buang buka bungkus cabut cadangkan cari catat
    cek cekin cermati cetak coba copot cuci dengar edit eksekusi gabung ganti gantiin geser
    gulung hapus hapusin hargai hentikan hindari hitung hubungi ikut ikuti ingat isi jadwalkan
    jaga jalanin jauhi jawab jemput kasih kemas kembali ketik kirim kirimin klik konfirmasi
    kumpulkan kunci kunjungi kurangi lanjut lapor lengkapi lepas lewati lihat lindungi mari
    matiin minta muat mulai namai nyalain nyalakan olah pakai panggil pasang patuhi pelajari
    penuhi perbaiki perbanyak perbarui perbesar percepat perdalam perhalus perhatikan periksa
    perjelas perkecil perketat perkuat perlambat perlebar perluas perpanjang perpendek
    persingkat pertegas pilih pinjam pisah potong putar rapikan rawat rilis salin sambung
    setujui siapkan simak simpan singkat sisakan stop susun taati tahan tambah tambahin tandai
    tangani tanya tanyai tarik taruh tawarkan tekan tempel temui teruskan tes tiru tolak tukar
    tulis tunda tunggu tunjuk tutup ubah ucap uji ulang ulangi umumkan unduh unggah urus urut
    waspadai
    """
)
NO_COMMANDS: Final = _words(
    """
    akan andaikan asalkan bahkan balkan belokan bentukan berdasarkan bukan cetakan desakan
    ejekan gerakan ikan jangankan kebaikan kebanyakan kebijakan kekompakan kelayakan kenaikan
    kerusakan ledakan makan masakan masukan misalkan pakan pasokan pekan pelikan pendidikan
    perbaikan percetakan pergerakan perpajakan pertunjukan rekan retakan rujukan seakan
    seandainya sedangkan tarikan tembakan teriakan tindakan tumpukan vatikan
    """
)
"""Words in -kan that are no commands, besides those that begin with me-, di-, pem- or pen-."""
DEMONSTRATIVES: Final = _words("itu ini tersebut yang")
