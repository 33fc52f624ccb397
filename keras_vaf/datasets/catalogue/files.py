"""The files of the tables: paths, sizes, checksums and addresses.

Each GitHub address names a commit, so that its content cannot change.
"""

from keras_vaf.datasets.catalogue.entry import File

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
GITHUB = "https://raw.githubusercontent.com/"

# A public copy of Torgo's regression collection as ARFF files.
TORGO = (
    GITHUB + "renatopp/arff-datasets/"
    "c59f172882592bb58982cc54d2d3c8a2b57e9b73/regression/"
)

CPU_SMALL = File(
    "cpu_small/cpu_small.arff",
    size=588881,
    sha256="be6a626bd91804c81cc2f26d015f8df23afcce7af952c522c8dfe06bc187203c",
    words="19680c116ffb70ff1ae832883a48c4b7a93c68874d57e1a4b1e392bf9822d180",
    urls=(TORGO + "cpu.small.arff",),
)

DELTA_ELEVATORS = File(
    "delta_elevators/delta_elevators.arff",
    size=372124,
    sha256="9348858eee6722abd4c683de382a84036c6dee3f9392fd5e6c3b3ab15f4ae4e1",
    words="3cd9ddfde3aab5c92f28eb48eea2d4f6f6b531785e3b76a54928e97cd9defcdc",
    urls=(TORGO + "delta.elevators.arff",),
)

ELEVATORS = File(
    "elevators/elevators.arff",
    size=2219319,
    sha256="fd11efdb0e3bc42a3eae7e267d52d736637cc4aa2c274712d0309ea15a211afa",
    words="b59f1629cc7bfa0bd579cbb1cd094f009cfb302c0555be9b138e1e522bc9ce06",
    urls=(TORGO + "elevators.arff",),
)

KIN8NM = File(
    "kin8nm/kin8nm.arff",
    size=1139401,
    sha256="64a4d839e3ce2fd57f57a21d612392170a57f9612fdd56a8fc35b4e7a5d59881",
    words="7d4daf0304e60e001922fa739d10fd67510b905ee9b4069edfc02d5f08662c52",
    urls=(TORGO + "kin8nm.arff",),
)

PUMA8NH = File(
    "puma8nh/puma8NH.arff",
    size=709578,
    sha256="564cb4fc17bde4a96971059076efce9ee1ef3719c98688d400de4036f12f6c81",
    words="c53d851859a59e176c103ad22e5e53f46d39d1f70204faf50d535f36c1b390d9",
    urls=(TORGO + "puma8NH.arff",),
)

PUMA32H = File(
    "puma32h/puma32H.arff",
    size=2814564,
    sha256="4337051c09905933d445380746aa0190fb77513b0a18bed48fcb4314dacb7755",
    words="bea1c17462f67bb6ff9bab61b6401132c611a31f331fd0a4ead54ea84536b844",
    urls=(TORGO + "puma32H.arff",),
)

SERVO = File(
    "servo/servo.data",
    size=3185,
    sha256="f1d383dbb72bafd82df227483f7de3dd0a06cbd6a6329f91d656babe400f4acf",
    words="44b53cac3db017f08e7a2dc6a860c87b1c73408687fa5b5eafb2db3fe6884330",
    urls=(
        UCI + "servo/servo.data",
        GITHUB + "prajjwaldangal/servo-data/"
        "3b188b0742fa8003b818b7aec9eb67dbc384e0b4/servo.data",
    ),
)

ENERGY_CSV = File(
    "energy_efficiency/ENB2012_data.csv",
    size=33489,
    sha256="88fb36f0eb6f0afdab8602f84e67d0d631790a604d7fe9beeb531be97f4ef553",
    words="980faae0dcaca0141340d2c2a6909296804bdd146fffb3e57c70e9fd0c9880f8",
    note="Made from the workbook.",
)

ENERGY_WORKBOOK = File(
    "energy_efficiency/ENB2012_data.xlsx",
    size=80458,
    sha256="ce80fba0fdf4be0e2f2e709fd01ff9c807246947fe666e18710d5105af7970b6",
    urls=(
        UCI + "00242/ENB2012_data.xlsx",
        GITHUB + "hafshahshaliha/ENB2012_data/"
        "7b7c7b1951c9be7aed020e9150e7e6f81e8b9a3c/ENB2012_data.xlsx",
    ),
)

YACHT = File(
    "yacht/yacht_hydrodynamics.data",
    size=11428,
    sha256="d00d8c519b5f3b55fc4b750d959b4adae7d9185799a1b0e3e01ea14c25d5ccdf",
    words="d3152ef79599e1669e2210c558a3e764e4126e857f2d67f9cd7b1e315e8b639a",
    urls=(
        UCI + "00243/yacht_hydrodynamics.data",
        GITHUB + "MariosKokmo/yacht_hydrodynamics/"
        "95bc1e7bd4a75aa6b288919691d974aacf4462d2/yacht_hydrodynamics.data",
    ),
)

SENSORLESS = File(
    "sensorless/Sensorless_drive_diagnosis.txt",
    git_blob="9101c388dfa5ccd3bfbec96c00efe2b1d7c36f32",
    urls=(UCI + "00325/Sensorless_drive_diagnosis.txt",),
)

SENSORLESS_SUBSET = File(
    "sensorless/Sensorless_drive_diagnosis.subset2200.txt.gz",
    size=334027,
    sha256="75d227132e66ef967b293b5c41db3113b0ec637ecd84de6a22ec4c128f0e386f",
    note="200 rows of each class, in another order than the publisher's.",
)

LIVER = File(
    "liver/bupa.data",
    size=7297,
    sha256="a166a3e7a6f4dc41aaaedc59a107e57d8adcaeb8821f0873d756982f1ea74c92",
    words="fa39eda4d0061b0e69b349bba33efd433a25dc9a2b831da16c20650daddf94ce",
    urls=(UCI + "liver-disorders/bupa.data",),
    note="A copy from which a header line was removed that the publisher's lacks.",
)

WINE = File(
    "wine/wine.data",
    size=10782,
    sha256="6be6b1203f3d51df0b553a70e57b8a723cd405683958204f96d23d7cd6aea659",
    words="9e0213206e05a164c83e439dff5ccdd0ebbde6f1f7a37e9775936c819cb5c320",
    urls=(UCI + "wine/wine.data",),
)

IMAGE_SEGMENTATION = File(
    "image_segmentation/segment.dat",
    size=368314,
    sha256="43b511817f08ba099fe1c96e51697c372ea1096ba46daf2a4fa718142a3e71d2",
    words="fb6b1007a529fda7b0bd7e5a09cd6cd80f93fba2760e188f753af39c76a07fde",
    urls=(
        UCI + "statlog/segment/segment.dat",
        GITHUB + "loremo/AdaBoost/"
        "0732aafde4aa10c6e0ae9a8f4554b41240fb688c/data/segment.dat",
    ),
)

LANDSAT_TRAINING = File(
    "landsat_satellite/sat.trn",
    size=525830,
    sha256="e896dc88a960fa2404160fc4c3cb3dc53fcf4afd80ba920bf2d261bd42d12613",
    words="6be04501861356eafdfce6628b29900ce5692dcc5aa983a32aade1aa47fdf898",
    urls=(
        UCI + "statlog/satimage/sat.trn",
        GITHUB + "dirichletcal/experiments_neurips/"
        "54989edf11995f7f0f8390766e51133373044db2/datasets/sat.trn",
    ),
    note="Line ends are LF; the publisher's are CRLF.",
)

LANDSAT_TEST = File(
    "landsat_satellite/sat.tst",
    size=236745,
    sha256="4b9167b8a92baafafed7c8809aef86d0683a5e685c19d98d119fa6974f0f2479",
    words="b9e6b0429cef48c6c86fd930658555f169bfb07ec03181eef2e0b336df982bbb",
    urls=(
        UCI + "statlog/satimage/sat.tst",
        GITHUB + "dirichletcal/experiments_neurips/"
        "54989edf11995f7f0f8390766e51133373044db2/datasets/sat.tst",
    ),
    note="Line ends are LF; the publisher's are CRLF.",
)

CARDIOTOCOGRAPHY_CSV = File(
    "cardiotocography/ctg_nsp.csv",
    size=209398,
    sha256="8b52049d8e063c7e060b00701914a5685b69afebaf3f5ef841127fda88a1219c",
    words="bf8690153da5a29d1cca70436935686b09c8b784c55197adbe1d6af39ad0c286",
    note="Made from the sheet Data of the workbook, rounded to 12 digits.",
)

CARDIOTOCOGRAPHY_WORKBOOK = File(
    "cardiotocography/CTG.xls",
    size=1743872,
    sha256="d6aa62e82625e59f9d5b05bc8fc52af9ea67bdf2a23f1faca8511d5618fcb421",
    urls=(
        UCI + "00193/CTG.xls",
        GITHUB + "cyniphile/ctg/0d5e9715bfe661f08dca7353545a4eeeffafbacf/data/CTG.xls",
    ),
)

SEISMIC_BUMPS = File(
    "seismic_bumps/seismic-bumps.arff",
    size=138671,
    sha256="14554f22299fd04686f31cbb44e793f74e7962ef80e776c82cd4180e4f22e3a9",
    words="9e1277957245a4b868b6d113f1c0ffa2a71d1157ce8c4c23a3b0528fd2ab48f2",
    urls=(
        UCI + "00266/seismic-bumps.arff",
        GITHUB + "MichalKuzma/HClassifier/"
        "a28b138efdae21431113183246752e9e44bdeaa9/data/seismic-bumps.arff",
    ),
)

DERMATOLOGY = File(
    "dermatology/dermatology.data",
    size=25964,
    sha256="455eba77f72cd087ce54a5a266c514c5f34e85000c8689ad09e796d68ad45742",
    words="21dd3e93ba290435d8bc0380dcc05fd948414707e4c9674ae0f5c449773e4cb2",
    urls=(UCI + "dermatology/dermatology.data",),
    note="A copy from which a header line was removed that the publisher's lacks.",
)

DIABETIC_RETINOPATHY = File(
    "diabetic_retinopathy/messidor_features.arff",
    size=117223,
    sha256="f26adef0a94920205da4eedefbb6ccd730fd4b52a18ac7c01457cc7c1382c0c4",
    words="453a03e8fdc361a88bb1c8adba87a4ace8478b3ac09405a958333720e9df0b36",
    urls=(
        UCI + "00329/messidor_features.arff",
        GITHUB + "pxpepe/ml-diabetic-retinopathy-debrecen/"
        "7ab2658e48d40ec5d9772f5c59ac330868383c35/messidor_features.arff",
    ),
)

QSAR_BIODEGRADATION = File(
    "qsar_biodegradation/biodeg.csv",
    size=155987,
    sha256="c66ac1a23aba11fb166fd5054fea14ac97b8e4f7e4940ae679dc863d1cc4b3c9",
    words="3d06b7ba6cd6f54493c43b1451b84e7b6f2b6651ec37fcc7889489247d8d269a",
    urls=(
        UCI + "00254/biodeg.csv",
        GITHUB + "ericmjl/dl-workshop/"
        "6ef9b7feb60dd5f6a4dbdda4dc899337e583a397/data/biodeg.csv",
    ),
)

CLIMATE_CRASHES = File(
    "climate_crashes/pop_failures.dat",
    size=249912,
    sha256="e61f1e1c06b211c8f8e5c43958cab5eff91d07aab09e942d14464bd132775472",
    words="482063cfb6792a1d5d7f97b6c0f45b32976acda2a620ac0195036f47612c8570",
    urls=(UCI + "00252/pop_failures.dat",),
    note="The header line was put back; its blanks may differ from the publisher's.",
)
